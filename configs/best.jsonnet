// The model to use: word vectors distilled from a sentence transformer, an adaptive star transformer that adds to their
// sum, TF-IDF beside it, and articles that compete for each post.
// Make the vectors first, with the texts at hand (a GPU helps the teacher, nothing else needs one):
//   linker vectors distil TEXTS... --teacher FOLDER --out vectors.txt.gz
//   linker train configs/best.jsonnet --out runs/best --ext-var data=DIR --ext-var vectors=vectors.txt.gz
// DIR holds articles.jsonl.gz and posts.jsonl.gz whose rows carry their split. benchmarks/best.py measures what each part
// is worth.
local defaults = import 'lib/defaults.libsonnet';
local data = std.extVar('data');

defaults.training {
  data: {
    reader: defaults.files(data + '/articles.jsonl.gz', data + '/posts.jsonl.gz'),
    splitter: 'given',
  },
  model: {
    type: 'competing',
    temperature: 0.05,
    none: 0.3,
    model: {
      type: 'hybrid',
      fusion: 'sum',
      parts: [
        {
          type: 'siamese',
          tokenizer: 'social',
          vectors: { source: std.extVar('vectors') },
          embedder: { type: 'word_vectors', dim: 384, trainable: true, dropout: 0.05 },
          encoder: {
            type: 'residual',
            encoder: { type: 'star_transformer', num_heads: 10, head_dim: 30, cycles: 1, score: 'cosine' },
          },
          title_view: true,
        },
        'tfidf',
      ],
      weights: [1, 0.8],
    },
  },
  miner: 'all_pairs',
  loss: { type: 'info_nce', temperature: 0.05 },
  trainer+: {
    batches: { articles: 512, posts_per_article: 4, neighbours: 4 },
    chunk_tokens: 40000,
    epochs: 5,
    patience: null,
    metric: 'MAP',
  },
}
