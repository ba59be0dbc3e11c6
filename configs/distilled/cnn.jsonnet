// Convolutions over n-grams of 1 to 4 tokens (Kim 2014), otherwise as distilled/ast.jsonnet.
//   linker train configs/distilled/cnn.jsonnet --data DIR --vectors 6B.300d
(import '../lib/distilled.libsonnet') {
  model+: { model+: {
    encoder: { type: 'cnn', num_filters: 100, ngram_sizes: [1, 2, 3, 4] },
  } },
}
