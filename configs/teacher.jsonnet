// Who teaches the model of best.jsonnet: the whole sentence transformer, trained on the same links. Better, and a third as
// fast.
//   linker train configs/teacher.jsonnet --out runs/teacher --ext-var data=DIR --ext-var path=FOLDER
local best = import 'best.jsonnet';

best {
  model+: { model+: { parts: [
    best.model.model.parts[0] { layers: null, title_view: false, max_article_tokens: 96, max_post_tokens: 96 },
    'tfidf',
  ] } },
  trainer+: {
    optimizer+: { lr: 3e-5 },
    epochs: 2,
  },
}
