// A small model for the sample, trained in under a minute on two CPU cores.
//   linker train configs/quickstart.jsonnet
// With 64 articles to learn from, the mean of trained word vectors beats every larger encoder; to see it, add
// `-o model.encoder=star_transformer`. With thousands of articles it is the other way round.
local defaults = import 'lib/defaults.libsonnet';

defaults.training {
  data: defaults.data,
  model: {
    type: 'siamese',
    tokenizer: 'social',
    vectors: { source: defaults.sample('vectors.txt.gz') },
    embedder: { type: 'word_vectors', trainable: true, dropout: 0.2 },
    encoder: 'mean',
  },
  miner: 'all_pairs',
  loss: { type: 'nt_xent', temperature: 0.1 },
  trainer+: {
    optimizer: { type: 'adam', lr: 2e-3 },
    batches: { articles: 16, posts_per_article: 4, articles_per_story: 4 },
    epochs: 30,
    patience: 10,
  },
}
