// A small Adaptive Star Transformer on the sample in data/: trains in a minute or two on two CPU cores.
local defaults = import 'lib/defaults.libsonnet';

defaults.training {
  data: {
    reader: defaults.files('data/articles.jsonl', 'data/posts.jsonl'),
    splitter: 'given',
  },
  model: {
    type: 'siamese',
    tokenizer: 'social',
    embedder: { type: 'word_vectors', dim: 100, trainable: true, dropout: 0.2 },
    encoder: { type: 'star_transformer', num_heads: 5, head_dim: 20 },
  },
  trainer+: {
    optimizer: { type: 'adam', lr: 1e-3 },
    epochs: 10,
  },
}
