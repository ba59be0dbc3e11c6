// The setting in which encoders are compared, as Danovitch 2020 compares them, but with today's means: distilled word
// vectors, a teacher before the links, InfoNCE over large batches, and articles that compete for each post.
// Where the data and vectors lie is said on the command line:
//   linker vectors distil TEXTS... --teacher FOLDER --out vectors.txt.gz
//   linker distil configs/ast.jsonnet TEXTS... --teacher FOLDER --out runs/ast-student --rate 1e-3 \
//     --ext-var data=DIR --ext-var vectors=vectors.txt.gz
//   linker train configs/ast.jsonnet -o start=runs/ast-student --out runs/ast --ext-var data=DIR \
//     --ext-var vectors=vectors.txt.gz
// DIR holds articles.jsonl.gz and posts.jsonl.gz whose rows carry their split. Without a teacher, leave out the second
// command and `start`; any word vectors will do, with their size as `-o model.model.embedder.dim=300`.
local defaults = import 'defaults.libsonnet';
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
    kinship: 0.3,
    model: {
      type: 'siamese',
      tokenizer: 'social',
      vectors: { source: std.extVar('vectors') },
      embedder: { type: 'word_vectors', dim: 384, trainable: true, dropout: 0.05 },
      title_share: 0.5,
    },
  },
  miner: 'all_pairs',
  loss: { type: 'info_nce', temperature: 0.05 },
  trainer+: {
    batches: { articles: 512, posts_per_article: 4, neighbours: 4 },
    epochs: 3,
    patience: null,
    metric: 'MAP',
    precision: 'auto',
  },
}
