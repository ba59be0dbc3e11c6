"""linker.training."""
