// ast.jsonnet with GloVe and the tokenizer of torchtext 0.18; it needs an environment of its own
// (`make test-torchtext` builds one in .venv-torchtext):
//   linker train configs/ast_torchtext.jsonnet
// torchtext downloads GloVe into .vector_cache unless it is there.
(import 'ast.jsonnet') {
  model+: {
    tokenizer: { type: 'torchtext', name: 'basic_english' },
    vectors: { type: 'torchtext', name: 'glove.6B.300d' },
  },
}
