// The last states of two gated recurrent units, one per direction, a baseline of Danovitch 2020.
(import 'lib/linking.libsonnet') {
  model+: { model+: {
    encoder: { type: 'bigru', hidden_dim: 384 },
  } },
}
