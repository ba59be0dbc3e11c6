// best.jsonnet with two layers of MiniLM, twice as fast: for large numbers of posts, and for processors without bfloat16.
// It takes the same two commands, with this config and folders of its own:
//   linker distil configs/two_layers.jsonnet TEXTS... --teacher sentence-transformers/all-MiniLM-L6-v2 --epochs 2 \
//     --rate 4e-4 --out runs/two_layers-student
//   linker train configs/two_layers.jsonnet --data DIR -o start=runs/two_layers-student
local best = import 'best.jsonnet';

best {
  model+: { model+: { parts: [
    best.model.model.parts[0] { layers: [0, 5] },
    'tfidf',
    'bundled_word_vectors',
  ] } },
}
