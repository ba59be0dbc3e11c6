// The model of distilled/bigru.jsonnet learns from a sentence transformer, before it is trained on links.
//   linker train configs/students/bigru.jsonnet --data TEXTS --vectors 6B.300d
(import '../distilled/bigru.jsonnet') + (import '../lib/distillation.libsonnet') + {
  trainer+: { optimizer+: { lr: 1e-3 } },
}
