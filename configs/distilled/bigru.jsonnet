// The last states of two gated recurrent units, one per direction, otherwise as distilled/ast.jsonnet.
//   linker train configs/distilled/bigru.jsonnet --data DIR --vectors 6B.300d
(import '../lib/distilled.libsonnet') {
  model+: { model+: {
    encoder: 'bigru',
  } },
}
