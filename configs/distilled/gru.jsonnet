// The last state of a gated recurrent unit, otherwise as distilled/ast.jsonnet.
//   linker train configs/distilled/gru.jsonnet --data DIR --vectors vectors.txt.gz
(import '../lib/distilled.libsonnet') {
  model+: { model+: {
    encoder: 'gru',
  } },
}
