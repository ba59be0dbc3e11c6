// De Boom et al. 2016: words ranked by idf, a learned weight for each place, the median-based loss.
// Related texts are neighbouring passages of the same article:
//   linker train configs/deboom.jsonnet --out runs/deboom --ext-var articles=FILE --ext-var vectors=FILE
// `-o loss=contrastive_based` trains the other loss of the paper.
{
  data: {
    reader: { type: 'passages', articles: std.extVar('articles'), min_words: 10, max_words: 30, skip: 2 },
    splitter: { type: 'by_article', train: 0.6, dev: 0.05, test: 0.35 },
  },
  model: {
    type: 'siamese',
    similarity: 'euclidean',
    tokenizer: 'whitespace',
    vectors: { source: std.extVar('vectors') },
    embedder: { type: 'word_vectors_idf', dim: 300 },
    encoder: { type: 'word_weights', places: 30, initial: 0.5 },
  },
  miner: 'balanced',
  loss: { type: 'median_based', kappa: 160 },
  trainer: {
    optimizer: { type: 'sgd', lr: 0.01, l2: 0.001 },
    schedule: 'constant',
    // 50 related pairs a batch, and 50 unrelated ones that the miner makes of them.
    batches: { articles: 50, posts_per_article: 1, neighbours: 1 },
    // The rate falls to a tenth after the first epoch whose loss rose; then the run ends when the loss hardly falls.
    loss_rule: { factor: 0.1, least_fall: 0.0005 },
    epochs: 30,
    patience: null,
    metric: 'AUC',
    clip_norm: null,
    callbacks: ['json_lines'],
  },
  seed: 13,
}
