// The model of minilm/multilingual.jsonnet, six of twelve layers, learns from all twelve, before it is trained on links.
//   linker train configs/students/multilingual.jsonnet --data TEXTS
(import '../minilm/multilingual.jsonnet') + (import '../lib/distillation.libsonnet') + {
  loss+: { teacher: 'sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2' },
}
