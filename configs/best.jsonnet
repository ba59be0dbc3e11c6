// The model to use: four of a sentence transformer's six layers, which learn from the whole of it and then from links;
// TF-IDF and the word vectors that linker brings along beside them; and articles that compete for each post.
//   linker distil configs/best.jsonnet TEXTS... --teacher FOLDER --epochs 2 --rate 4e-4 --out runs/student \
//     --ext-var data=DIR --ext-var path=FOLDER
//   linker train configs/best.jsonnet -o start=runs/student --out runs/best --ext-var data=DIR --ext-var path=FOLDER
// FOLDER is that of all-MiniLM-L6-v2. DIR holds articles.jsonl.gz and posts.jsonl.gz whose rows carry their split.
// benchmarks/quality.py measures what each part is worth.
local defaults = import 'lib/defaults.libsonnet';

defaults.training {
  data: defaults.data,
  model: {
    type: 'competing',
    temperature: 0.06,
    none: 0.3,
    kinship: 0.3,
    model: {
      type: 'hybrid',
      fusion: 'sum',
      parts: [
        {
          type: 'transformer',
          path: 'sentence-transformers/all-MiniLM-L6-v2',
          layers: [0, 1, 3, 5],
          title_share: 0.25,
          normalization: 'hashtags',
          precision: 'auto',
        },
        'tfidf',
        'shipped_vectors',
      ],
      weights: [1, 1, 0.2],
    },
  },
  miner: 'all_pairs',
  loss: { type: 'info_nce', temperature: 0.05 },
  trainer+: {
    optimizer: { type: 'adamw', lr: 1e-4 },
    schedule: { type: 'linear', warmup: 0.1 },
    batches: { articles: 128, posts_per_article: 4, neighbours: 4 },
    epochs: 3,
    patience: null,
    metric: 'MAP',
    precision: 'auto',
    start_share: 0.5,
  },
}
