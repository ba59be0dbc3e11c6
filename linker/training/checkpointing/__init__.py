"""Checkpoints: written while training, read on resuming."""
