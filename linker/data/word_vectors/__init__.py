"""Pretrained word vectors: download, read, train."""
