"""Distillation: a teacher's cached embeddings, and a loss that the trainer minimizes like any other."""
