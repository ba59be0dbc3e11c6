"""Programs for those who work on linker."""
