"""Labels needed by query strategies, error rates of stopping rules."""
