"""Posts encoded once, kept on disk, and ranked for any article."""
