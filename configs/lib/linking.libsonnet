// The setting that Danovitch 2020 compares encoders in: 300-d word vectors, multi-similarity mining, triplet loss.
// Where the data and vectors lie is said on the command line:
//   linker train configs/ast.jsonnet --out runs/ast --ext-var data=DIR --ext-var vectors=FILE
// DIR holds articles.jsonl and posts.jsonl (or .gz ...) whose rows carry their split.
local defaults = import 'defaults.libsonnet';
local data = std.extVar('data');

defaults.training {
  data: {
    reader: defaults.files(data + '/articles.jsonl.gz', data + '/posts.jsonl.gz'),
    splitter: 'given',
  },
  model: {
    type: 'siamese',
    tokenizer: 'social',
    vectors: { source: std.extVar('vectors') },
    embedder: { type: 'word_vectors', dim: 300, dropout: 0.05 },
  },
  trainer+: { epochs: 6, patience: 3 },
}
