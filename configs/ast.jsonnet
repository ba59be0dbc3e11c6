// The Adaptive Siamese Transformer of Danovitch 2020, trained by the recipe of the paper:
//   linker train configs/ast.jsonnet
// On data of your own:
//   linker train configs/ast.jsonnet --data DIR --vectors 6B.300d
// DIR holds articles.jsonl and posts.jsonl (or .csv, .parquet ..., also compressed).
// The recipe is made for thousands of articles; on the 64 of the sample it learns little, as its last lines show.
(import 'lib/danovitch2020.libsonnet') {
  model+: {
    // Each of the 10 heads is a tenth of the size of the word vectors: 30 of 300.
    encoder: { type: 'star_transformer', num_heads: 10, cycles: 1, score: 'cosine', dropout: 0.05 },
  },
}
