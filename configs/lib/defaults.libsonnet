// What the configs share. Each config states only what differs.

// The folder that holds `configs` and `data`, so that the sample is found from any folder.
local here = 'configs/lib/defaults.libsonnet';
local root = std.substr(std.thisFile, 0, std.length(std.thisFile) - std.length(here));

{
  // A file of the sample.
  sample(name):: root + 'data/' + name,

  // Articles and posts of the sample; `--data DIR` replaces them. Rows with a column `split` are divided by it.
  data:: {
    reader: $.files($.sample('articles.jsonl'), $.sample('posts.jsonl')),
  },

  // Articles from one file, posts from another.
  files(articles, posts, columns={}):: {
    type: 'articles_and_posts',
    articles: articles,
    posts: posts,
    columns: columns,
  },

  training:: {
    miner: { type: 'multi_similarity', epsilon: 0.1 },
    loss: { type: 'triplet_margin', margin: 0.15 },
    trainer: {
      optimizer: { type: 'adam', lr: 5e-4 },
      schedule: 'constant',
      batches: { articles: 64, posts_per_article: 4, articles_per_story: 4 },
      epochs: 10,
      patience: 5,
      metric: 'pair AP',
      callbacks: ['tensorboard', 'json_lines'],
    },
    seed: 13,
  },
}
