// The last state of a gated recurrent unit, otherwise as distilled/ast.jsonnet.
//   linker train configs/distilled/gru.jsonnet --data DIR --vectors 6B.300d
(import '../lib/distilled.libsonnet') {
  model+: { model+: {
    encoder: 'gru',
  } },
}
