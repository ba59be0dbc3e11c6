"""Articles: fetched from addresses, or read from files and text."""
