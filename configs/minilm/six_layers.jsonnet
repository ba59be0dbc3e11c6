// base.jsonnet with all six layers of MiniLM, fine-tuned on links without a teacher: hardly better, at two thirds of the speed.
//   linker train configs/minilm/six_layers.jsonnet --data DIR
local best = import 'base.jsonnet';

best {
  model+: { model+: { parts: [
    best.model.model.parts[0] { layers: null, max_article_tokens: 96, max_post_tokens: 96 },
  ] + best.model.model.parts[1:] } },
  trainer+: {
    optimizer+: { lr: 3e-5 },
    epochs: 2,
  },
}
