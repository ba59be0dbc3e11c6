// The bundled model `best`, trained further on links of your own. It needs no teacher and downloads nothing.
//   linker train configs/minilm/finetune.jsonnet --data DIR
// DIR holds articles.jsonl and posts.jsonl (or .csv, .parquet ..., also compressed). Without --data: the sample.
local best = import 'base.jsonnet';
local parts = best.model.model.parts;

best {
  // Weights and tokenizer are those of `start`.
  model+: { model+: { parts: [parts[0] { path: 'best' }] + parts[1:] } },
  start: 'best',
}
