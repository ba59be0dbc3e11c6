// The Adaptive Star Transformer of Danovitch 2020 with current methods: InfoNCE, and articles that
// compete for each post; lib/distilled.libsonnet says how to add a teacher.
//   linker train configs/distilled/ast.jsonnet --data DIR --vectors 6B.300d
(import '../lib/distilled.libsonnet') {
  model+: { model+: {
    encoder: { type: 'star_transformer', num_heads: 10, head_dim: 30, cycles: 1, score: 'cosine' },
  } },
}
