// best.jsonnet with two layers, half as dear, for processors that do not multiply bfloat16 and for great piles of posts.
// It is taught and trained by the same commands.
local best = import 'best.jsonnet';

best {
  model+: { model+: { parts: [
    best.model.model.parts[0] { layers: [0, 5] },
    'tfidf',
    'shipped_vectors',
  ] } },
}
