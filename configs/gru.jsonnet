// The last state of a gated recurrent unit, a baseline of Danovitch 2020.
(import 'lib/linking.libsonnet') {
  model+: { model+: {
    encoder: { type: 'gru', hidden_dim: 384 },
  } },
}
