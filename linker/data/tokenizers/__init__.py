"""Tokenizers: text to tokens."""
