// WRAPresentations: a transformer whose vectors bring tweets of one class together, whatever they are about.
//   linker train configs/wrapresentations.jsonnet --out runs/wrap --ext-var labels=FILE --ext-var texts=FILE \
//     --ext-var network=vinai/bertweet-base --ext-var held_out=abortion
// `labels` has tweet_id, topic, class; `texts` has id, text: the tweets, or what `linker mine augmented` made of them.
{
  data: {
    reader: { type: 'labelled_texts', labels: std.extVar('labels'), texts: std.extVar('texts') },
    // 60 % of each class train, 40 % are dev; a whole topic is test.
    splitter: { type: 'by_topic', held_out: std.extVar('held_out'), dev: 0.4 },
  },
  model: {
    type: 'transformer',
    path: std.extVar('network'),
    pooling: 'mean',
    normalization: 'bertweet',
  },
  // Every text with every other, as many pairs of one class as of two.
  miner: 'aligned',
  loss: { type: 'contrastive_margin', margin: 0.5 },
  trainer: {
    optimizer: { type: 'adamw', lr: 4e-5, weight_decay: 0.01 },
    // The paper's 2,533 steps are a tenth of its 25,325.
    schedule: { type: 'linear', warmup: 0.1 },
    batches: { type: 'class_pairs', pairs: 32 },
    epochs: 5,
    patience: null,
    metric: 'mAP',
    clip_norm: 1.0,
    callbacks: ['json_lines'],
  },
  seed: 13,
}
