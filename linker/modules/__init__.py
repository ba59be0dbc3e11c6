"""linker.modules."""
