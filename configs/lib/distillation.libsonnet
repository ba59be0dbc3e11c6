// Added to a config, distills a teacher into its model instead of training on links:
//   (import '../minilm/base.jsonnet') + (import '../lib/distillation.libsonnet')
// `linker train CONFIG --data TEXTS` then reads TEXTS (a file, or a folder of files) and learns to reproduce the embeddings of
// the sentence transformer all-MiniLM-L6-v2, downloaded once, or of that in a folder: -o loss.teacher=FOLDER. `-o start=OUT` trains on links from the result.
local defaults = import 'defaults.libsonnet';

{
  data: {
    // Articles, posts or both; a fiftieth of the texts is held out to measure the cosine to the teacher.
    reader: { type: 'texts', files: [defaults.sample('articles.jsonl'), defaults.sample('posts.jsonl')] },
    splitter: { type: 'by_text', dev: 0.02 },
  },
  loss: { type: 'distillation', teacher: 'sentence-transformers/all-MiniLM-L6-v2' },
  miner: 'all_pairs',
  trainer+: {
    optimizer: { type: 'adam', lr: 4e-4 },
    schedule: { type: 'linear', warmup: 0.02 },
    batches: { type: 'texts', size: 512 },
    epochs: 2,
    patience: null,
    metric: 'teacher_cosine',
    initial_weight: 0,
  },
}
