// The BiGRU baseline of Danovitch 2020: the last states of two gated recurrent units, one per direction, each half as long as a
// word vector.
//   linker train configs/bigru.jsonnet
(import 'lib/danovitch2020.libsonnet') {
  model+: {
    encoder: { type: 'bigru', dropout: 0.05 },
  },
}
