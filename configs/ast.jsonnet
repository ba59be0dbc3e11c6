// The Adaptive Siamese Transformer of Danovitch 2020: what the other encoders are compared with.
(import 'lib/linking.libsonnet') {
  model+: { model+: {
    encoder: { type: 'star_transformer', num_heads: 10, head_dim: 30, cycles: 1, score: 'cosine' },
  } },
}
