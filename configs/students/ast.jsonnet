// The model of distilled/ast.jsonnet learns from a sentence transformer, before it is trained on links.
//   linker train configs/students/ast.jsonnet --data TEXTS --vectors 6B.300d
(import '../distilled/ast.jsonnet') + (import '../lib/distillation.libsonnet') + {
  trainer+: { optimizer+: { lr: 1e-3 } },
}
