"""linker.models."""
