// The training recipe of Danovitch 2020: GloVe vectors, pairs chosen by the multi-similarity miner, triplet margin loss on
// squared distances, Adam. The configs that import it differ in the encoder alone.
local defaults = import 'defaults.libsonnet';

{
  data: defaults.data,
  model: {
    type: 'siamese',
    tokenizer: 'social',
    // Those of the sample. `--vectors 6B.300d` downloads and uses GloVe, as in the paper.
    vectors: { source: defaults.sample('vectors.txt.gz') },
    embedder: { type: 'word_vectors', dropout: 0.05 },
    // Articles are cut at 1,000 tokens.
    max_article_tokens: 1000,
  },
  miner: { type: 'multi_similarity', epsilon: 0.1 },
  loss: { type: 'triplet_margin', margin: 0.15 },
  trainer: {
    optimizer: { type: 'adam', lr: 1e-4 },
    schedule: 'constant',
    batches: { articles: 16, posts_per_article: 4, articles_per_story: 4 },
    epochs: 10,
    patience: 5,
    metric: 'pair AP',
    callbacks: ['tensorboard', 'json_lines'],
  },
  seed: 13,
}
