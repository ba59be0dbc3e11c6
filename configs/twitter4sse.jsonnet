// Di Giovanni & Brambilla 2021 (Twitter4SSE): a pretrained transformer, pairs of tweets, multiple negatives ranking loss.
// The pairs are files of `linker mine`, several with commas between them; `path` is a model of Hugging Face:
//   linker train configs/twitter4sse.jsonnet --out runs/twitter4sse --ext-var pairs=FILES --ext-var path=MODEL
// `-o miner=balanced -o loss=triplet_margin` is the triplet loss with a random negative.
{
  data: {
    reader: {
      type: 'single_file',
      files: std.split(std.extVar('pairs'), ','),
      columns: { url: 'anchor_id', article: 'anchor_text', id: 'id' },
    },
    // As in the paper everything is trained on: there is one epoch, so none to choose.
    splitter: { type: 'by_article', train: 1, dev: 0, test: 0 },
  },
  model: {
    type: 'transformer',
    path: std.extVar('path'),
    max_article_tokens: 128,
    max_post_tokens: 128,
  },
  // Every other post of the batch is a negative; cosines times 20.
  miner: 'all_pairs',
  loss: { type: 'nt_xent', temperature: 0.05 },
  trainer: {
    optimizer: { type: 'adamw', lr: 2e-5 },
    schedule: { type: 'linear', warmup: 0.1 },
    batches: { articles: 50, posts_per_article: 1, neighbours: 1 },
    epochs: 1,
    patience: null,
    callbacks: ['json_lines'],
  },
  seed: 13,
}
