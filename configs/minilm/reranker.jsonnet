// A cross-encoder that reads the best posts of the bundled model `best` again, together with the article.
//   linker train configs/minilm/reranker.jsonnet --data DIR
// DIR holds articles.jsonl and posts.jsonl (or .csv, .parquet ..., also compressed). MiniLM is downloaded once; to use a
// copy in a folder, add -o model.second_stage.path=FOLDER. To rerank with a model of your own, add
// -o model.first_stage=FOLDER -o trainer.batches.model=FOLDER.
local defaults = import '../lib/defaults.libsonnet';

defaults.training {
  data: defaults.data,
  model: {
    type: 'reranker',
    first_stage: 'best',
    second_stage: {
      type: 'cross_encoder',
      path: 'sentence-transformers/all-MiniLM-L6-v2',
      normalization: 'hashtags',
    },
  },
  miner: 'all_pairs',
  loss: 'listwise',
  trainer+: {
    optimizer: { type: 'adamw', lr: 1e-4 },
    schedule: { type: 'linear', warmup: 0.05 },
    batches: { type: 'hard_negatives', model: 'best', lists: 8, negatives: 7 },
    epochs: 1,
    patience: null,
    metric: 'MAP',
    precision: 'auto',
  },
}
