// The mean of the word vectors, which are trained: the floor that every encoder has to beat.
(import 'lib/linking.libsonnet') {
  model+: {
    embedder+: { trainable: true },
    encoder: 'mean',
  },
}
