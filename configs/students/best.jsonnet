// The model of minilm/base.jsonnet, four of the six layers of MiniLM, learns from all six, before it is trained on links.
//   linker train configs/students/best.jsonnet --data TEXTS
(import '../minilm/base.jsonnet') + (import '../lib/distillation.libsonnet')
