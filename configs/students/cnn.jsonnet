// The model of distilled/cnn.jsonnet learns from a sentence transformer, before it is trained on links.
//   linker train configs/students/cnn.jsonnet --data TEXTS --vectors 6B.300d
(import '../distilled/cnn.jsonnet') + (import '../lib/distillation.libsonnet') + {
  trainer+: { optimizer+: { lr: 1e-3 } },
}
