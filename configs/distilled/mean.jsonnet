// The mean of the distilled word vectors as they are, not trained: what every encoder has to beat.
//   linker train configs/distilled/mean.jsonnet --data DIR --vectors vectors.txt.gz
(import '../lib/distilled.libsonnet') {
  model+: { model+: {
    encoder: 'mean',
  } },
  trainer+: { epochs: 0 },
}
