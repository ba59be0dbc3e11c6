"""linker.evaluation."""
