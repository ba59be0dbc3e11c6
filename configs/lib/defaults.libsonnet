// What the recipes share. A recipe says only what differs.
{
  // Train and dev from one pair of files whose rows carry their split.
  files(articles, posts, columns={}):: {
    type: 'articles_and_posts',
    articles: articles,
    posts: posts,
    columns: columns,
  },

  // Danovitch 2020: multi-similarity mining, triplet loss on squared distances, Adam.
  training:: {
    miner: { type: 'multi_similarity', epsilon: 0.1 },
    loss: { type: 'triplet_margin', margin: 0.15 },
    trainer: {
      optimizer: { type: 'adam', lr: 5e-4 },
      schedule: 'constant',
      batches: { articles: 64, posts_per_article: 4, neighbours: 4 },
      epochs: 10,
      patience: 5,
      metric: 'mAP',
      callbacks: ['tensorboard', 'json_lines'],
    },
    seed: 13,
  },
}
