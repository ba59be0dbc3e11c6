"""Where posts are encoded and scored: in this process, or on many machines; the results are the same bit by bit."""
