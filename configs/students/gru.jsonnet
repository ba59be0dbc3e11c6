// The model of distilled/gru.jsonnet learns from a sentence transformer, before it is trained on links.
//   linker train configs/students/gru.jsonnet --data TEXTS --vectors 6B.300d
(import '../distilled/gru.jsonnet') + (import '../lib/distillation.libsonnet') + {
  trainer+: { optimizer+: { lr: 1e-3 } },
}
