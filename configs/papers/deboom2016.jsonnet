// Word vectors weighted by idf rank, with the median-based loss (De Boom et al. 2016).
//   linker train configs/papers/deboom2016.jsonnet --articles FILE --vectors FILE
// Related texts are neighboring passages of one article, so articles are all it needs. Without the options: the articles
// and word vectors of the sample. `-o loss=contrastive_based` trains with the other loss of the paper.
local defaults = import '../lib/defaults.libsonnet';

{
  data: {
    reader: {
      type: 'passages',
      articles: defaults.sample('articles.jsonl'),
      min_words: 10,
      max_words: 30,
      skip: 2,
    },
    splitter: { type: 'by_article', train: 0.6, dev: 0.05, test: 0.35 },
  },
  model: {
    type: 'siamese',
    similarity: 'euclidean',
    tokenizer: 'whitespace',
    vectors: { source: defaults.sample('vectors.txt.gz') },
    embedder: 'word_vectors_idf',
    encoder: { type: 'word_weights', max_words: 30, initial: 0.5 },
  },
  miner: 'balanced',
  loss: { type: 'median_based', kappa: 160 },
  trainer: {
    optimizer: { type: 'sgd', lr: 0.01, l2: 0.001 },
    schedule: 'constant',
    // A batch has 50 related pairs, of which the miner makes 50 unrelated ones.
    batches: { articles: 50, posts_per_article: 1, articles_per_story: 1 },
    // After the first epoch with a higher loss the learning rate falls to a tenth; then training stops when the loss
    // falls by less than 0.05 %.
    loss_rule: { type: 'drop_then_stop', factor: 0.1, min_delta: 0.0005 },
    epochs: 30,
    patience: null,
    metric: 'AUC',
    max_grad_norm: null,
    callbacks: ['json_lines'],
  },
  seed: 13,
}
