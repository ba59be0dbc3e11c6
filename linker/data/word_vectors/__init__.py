"""Word vectors: published, from a file, from torchtext's cache, or trained here."""
