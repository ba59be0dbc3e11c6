// The mean of the word vectors as they are: the floor that every encoder has to beat.
(import 'lib/linking.libsonnet') {
  model+: { model+: {
    encoder: 'mean',
  } },
  trainer+: { epochs: 0 },
}
