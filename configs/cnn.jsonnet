// Convolutions over n-grams of 1 to 4 tokens (Kim 2014), a baseline of Danovitch 2020.
(import 'lib/linking.libsonnet') {
  model+: { model+: {
    encoder: { type: 'cnn', num_filters: 100, ngram_sizes: [1, 2, 3, 4], hidden_dim: 384 },
  } },
}
