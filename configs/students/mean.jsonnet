// The fastest student: word vectors whose mean learns from a sentence transformer.
//   linker train configs/students/mean.jsonnet --data TEXTS
(import '../distilled/mean.jsonnet') + (import '../lib/distillation.libsonnet') + {
  trainer+: { optimizer+: { lr: 2e-3 }, epochs: 8 },
}
