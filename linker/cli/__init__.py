"""linker.cli."""
