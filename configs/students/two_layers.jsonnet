// The model of minilm/two_layers.jsonnet, two of the six layers of MiniLM, learns from all six, before it is trained on links.
//   linker train configs/students/two_layers.jsonnet --data TEXTS
(import '../minilm/two_layers.jsonnet') + (import '../lib/distillation.libsonnet') + {
  trainer+: { epochs: 1 },
}
