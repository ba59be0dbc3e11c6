"""Speed and memory of encoders, tokenizers and word-vector readers."""
