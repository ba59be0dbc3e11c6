// The CNN baseline of Danovitch 2020: convolutions over n-grams of 1 to 4 tokens with max pooling (Kim 2014).
//   linker train configs/cnn.jsonnet
(import 'lib/danovitch2020.libsonnet') {
  model+: {
    encoder: { type: 'cnn', num_filters: 100, ngram_sizes: [1, 2, 3, 4], dropout: 0.05 },
  },
}
