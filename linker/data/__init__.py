"""linker.data."""
