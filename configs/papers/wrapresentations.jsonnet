// A transformer that places tweets of one class close together, whatever their topic (WRAPresentations).
//   linker train configs/papers/wrapresentations.jsonnet --data DIR -o data.splitter.held_out=abortion
// DIR holds labels.csv (columns tweet_id, topic, class) and texts.jsonl (id, text). Without --data: the sample in data/taco.
// `-o data.reader.texts=FILE` trains on the texts that `linker mine augmented` has written.
local defaults = import '../lib/defaults.libsonnet';

{
  data: {
    reader: {
      type: 'labeled_texts',
      labels: defaults.sample('taco/labels.csv'),
      texts: defaults.sample('taco/texts.jsonl'),
    },
    // Of every class, 60 % of the tweets train and 40 % are dev; one whole topic is test.
    splitter: { type: 'by_topic', held_out: 'eastbridge', dev: 0.4 },
  },
  model: {
    type: 'transformer',
    path: 'vinai/bertweet-base',
    pooling: 'mean',
    normalization: 'bertweet',
  },
  // Every text with every other; as many pairs within a class as across classes.
  miner: 'aligned',
  loss: { type: 'contrastive_margin', margin: 0.5 },
  trainer: {
    optimizer: { type: 'adamw', lr: 4e-5, weight_decay: 0.01 },
    // The paper's 2,533 warm-up steps are a tenth of its 25,325 steps.
    schedule: { type: 'linear', warmup: 0.1 },
    batches: { type: 'class_pairs', pairs: 32 },
    epochs: 5,
    patience: null,
    metric: 'pair AP',
    max_grad_norm: 1.0,
    callbacks: ['json_lines'],
  },
  seed: 13,
}
