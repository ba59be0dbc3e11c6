// best.jsonnet with the whole sentence transformer, trained on the links without another teacher: hardly better, and
// two thirds as fast.
//   linker train configs/six_layers.jsonnet --out runs/six --ext-var data=DIR --ext-var path=FOLDER
local best = import 'best.jsonnet';

best {
  model+: { model+: { parts: [
    best.model.model.parts[0] { layers: null, max_article_tokens: 96, max_post_tokens: 96 },
    'tfidf',
    'shipped_vectors',
  ] } },
  trainer+: {
    optimizer+: { lr: 3e-5 },
    epochs: 2,
  },
}
