"""How good a ranking is: metrics, significance, and the files that other tools read."""
