// The bundled model `best`, trained from a sentence transformer: four of the six layers of MiniLM, fine-tuned first to imitate
// the whole of it and then on links; beside it TF-IDF; the bundled multilingual network for other languages; and articles that
// compete for each post.
//   linker train configs/students/best.jsonnet --data TEXTS
//   linker train configs/minilm/base.jsonnet --data DIR -o start=runs/students/best
// TEXTS is a file or a folder of texts, DIR holds articles.jsonl and
// posts.jsonl (or .csv, .parquet ..., also compressed). MiniLM is downloaded once; to use a copy in a folder, add
// -o model.model.parts.0.path=FOLDER. benchmarks/quality measures what each part contributes.
local defaults = import '../lib/defaults.libsonnet';

defaults.training {
  data: defaults.data,
  model: {
    type: 'article_softmax',
    temperature: 0.06,
    null_score: 0.3,
    neighbor_weight: 0.3,
    score_center: 5,
    score_width: 1.2,
    time: 'elapsed_time',
    model: {
      type: 'ensemble',
      fusion: 'sum',
      parts: [
        {
          type: 'transformer',
          path: 'sentence-transformers/all-MiniLM-L6-v2',
          layers: [0, 1, 3, 5],
          title_weight: 0.25,
          // Articles of any length: the beginning counts most, the first 512 tokens count.
          article_prefixes: [64, 128, 256, 512],
          normalization: 'hashtags',
          precision: 'auto',
          // A corpus stores embeddings of posts in a quarter of the space (decision 120).
          embedding_precision: 'int8',
        },
        { type: 'tfidf', stop_words: 'by_language', min_words: 3 },
        { type: 'tfidf', terms: 'characters', min_words: 8 },
        'bundled_multilingual',
      ],
      weights: [1, 1, 0, 0],
      // Of articles in other languages, and where most posts are in another language than the article (decision 170).
      // Null if your links are not in English.
      languages: ['en'],
      other_weights: [0, 0.2, 0.6, 1],
      cross_weights: [0, 0.13, 0.13, 1.3],
      // Of the first 30 posts, where there are no dates.
      rerank_weights: [0, 0, 0, 1],
    },
  },
  miner: 'all_pairs',
  loss: { type: 'info_nce', temperature: 0.05 },
  trainer+: {
    optimizer: { type: 'adamw', lr: 1e-4 },
    schedule: { type: 'linear', warmup: 0.1 },
    batches: { articles: 128, posts_per_article: 4, articles_per_story: 4 },
    epochs: 3,
    patience: null,
    metric: 'MAP',
    precision: 'auto',
    initial_weight: 0.5,
  },
}
