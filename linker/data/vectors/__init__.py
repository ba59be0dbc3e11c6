"""Pretrained word vectors: files of them, where they lie, how they are fetched and trained."""
