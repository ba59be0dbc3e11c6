"""linker.ranking."""
