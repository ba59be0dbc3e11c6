// The mean of the word vectors as they are, not trained: what every encoder has to beat.
//   linker train configs/distilled/mean.jsonnet --data DIR --vectors 6B.300d
(import '../lib/distilled.libsonnet') {
  model+: { model+: {
    encoder: 'mean',
  } },
  trainer+: { epochs: 0 },
}
