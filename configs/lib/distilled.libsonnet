// The encoders of Danovitch 2020 with current methods: a sentence transformer as teacher before training on links, the
// InfoNCE loss over large batches, and articles that compete for each post. Two commands, of which the second alone works
// too:
//   linker train configs/students/ast.jsonnet --data TEXTS --vectors 6B.300d
//   linker train configs/distilled/ast.jsonnet --data DIR --vectors 6B.300d -o start=runs/students/ast
// Without `-o start=...`, training starts from the word vectors. Without --vectors, they are those of the sample.
local defaults = import 'defaults.libsonnet';

defaults.training {
  data: defaults.data,
  model: {
    type: 'article_softmax',
    temperature: 0.05,
    null_score: 0.3,
    neighbor_weight: 0.3,
    time: 'elapsed_time',
    model: {
      type: 'siamese',
      tokenizer: 'social',
      vectors: { source: defaults.sample('vectors.txt.gz') },
      embedder: { type: 'word_vectors', trainable: true, dropout: 0.05 },
      title_weight: 0.5,
    },
  },
  miner: 'all_pairs',
  loss: { type: 'info_nce', temperature: 0.05 },
  trainer+: {
    batches: { articles: 512, posts_per_article: 4, articles_per_story: 4 },
    epochs: 3,
    patience: null,
    metric: 'MAP',
    precision: 'auto',
  },
}
