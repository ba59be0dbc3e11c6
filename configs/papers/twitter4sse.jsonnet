// A pretrained transformer trained on pairs of tweets with the multiple negatives ranking loss (Twitter4SSE, Di Giovanni &
// Brambilla 2021).
//   linker train configs/papers/twitter4sse.jsonnet --data sets/train
// --data is a file of pairs written by `linker mine`, or a folder of such files. The pretrained model is BERTweet;
// `-o model.path=MODEL` names another one, on the Hugging Face hub or in a folder.
// `-o miner=balanced -o loss=triplet_margin` trains with the triplet loss and a random negative instead.
{
  data: {
    reader: {
      type: 'single_file',
      files: 'sets/train',
      columns: { url: 'anchor_id', article: 'anchor_text', id: 'id' },
    },
    // As in the paper all pairs train: with a single epoch, there is nothing for a dev set to choose.
    splitter: { type: 'by_article', train: 1, dev: 0, test: 0 },
  },
  model: {
    type: 'transformer',
    path: 'vinai/bertweet-base',
    max_article_tokens: 128,
    max_post_tokens: 128,
  },
  // Every other post of the batch is a negative; cosines times 20.
  miner: 'all_pairs',
  loss: { type: 'nt_xent', temperature: 0.05 },
  trainer: {
    optimizer: { type: 'adamw', lr: 2e-5 },
    schedule: { type: 'linear', warmup: 0.1 },
    batches: { articles: 50, posts_per_article: 1, articles_per_story: 1 },
    epochs: 1,
    patience: null,
    callbacks: ['json_lines'],
  },
  seed: 13,
}
