// A model for posts and articles in about fifty languages: six of the twelve layers of a multilingual MiniLM, fine-tuned first to
// imitate the whole of it and then on links in your languages; beside it TF-IDF of words, without the function words of each
// article's language, and of characters.
//   linker train configs/students/multilingual.jsonnet --data TEXTS
//   linker train configs/minilm/multilingual.jsonnet --data DIR -o start=runs/students/multilingual
// TEXTS is a file or a folder of texts in your languages, DIR holds articles.jsonl and posts.jsonl (or .csv, .parquet ..., also
// compressed). Teacher and network are downloaded once; to use a copy in a folder, add
// -o loss.teacher=FOLDER -o model.model.parts.0.path=FOLDER.
local best = import 'base.jsonnet';

best {
  model+: { model+: {
    parts: [
      best.model.model.parts[0] {
        path: 'sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2',
        layers: [0, 2, 4, 6, 8, 11],
      },
      { type: 'tfidf', stop_words: 'by_language', min_words: 3 },
      { type: 'tfidf', terms: 'characters', min_words: 8 },
    ],
    weights: [1, 0.5, 0.5],
    // No warning, and the same weights for all articles.
    languages: null,
    other_weights: null,
    cross_weights: null,
    rerank_weights: null,
  } },
}
