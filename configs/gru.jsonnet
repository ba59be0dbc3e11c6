// The GRU baseline of Danovitch 2020: the last state of a gated recurrent unit (Cho et al. 2014), as long as a word vector.
//   linker train configs/gru.jsonnet
(import 'lib/danovitch2020.libsonnet') {
  model+: {
    encoder: { type: 'gru', dropout: 0.05 },
  },
}
