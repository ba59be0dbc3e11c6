// The mean of the word vectors, the simplest encoder, which every other encoder has to beat.
//   linker train configs/mean.jsonnet
(import 'lib/danovitch2020.libsonnet') {
  model+: {
    encoder: 'mean',
  },
}
