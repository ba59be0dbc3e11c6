// The training recipe of Danovitch 2020: GloVe vectors, pairs chosen by the multi-similarity miner, triplet margin loss on
// squared distances, Adam. The configs that import it differ in the encoder alone.
local defaults = import 'defaults.libsonnet';

{
  data: defaults.data,
  model: {
    type: 'siamese',
    tokenizer: 'social',
    // GloVe if it was downloaded (`linker vectors fetch 6B.300d`), else the vectors of the sample; `--vectors` replaces both.
    vectors: { source: '6B.300d', otherwise: defaults.sample('vectors.txt.gz') },
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
    metric: 'mAP',
    callbacks: ['tensorboard', 'json_lines'],
  },
  seed: 13,
}
