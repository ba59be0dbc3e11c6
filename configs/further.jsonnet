// The model that comes along, `best`, trained further with links of your own. No teacher, no texts, nothing to download.
//   linker train configs/further.jsonnet --out runs/further --ext-var data=DIR
// DIR holds articles.jsonl.gz and posts.jsonl.gz whose rows carry their split.
local best = import 'best.jsonnet';
local parts = best.model.model.parts;

best {
  // Weights and tokenizer are those of `start`.
  model+: { model+: { parts: [parts[0] { path: 'best' }] + parts[1:] } },
  start: 'best',
}
