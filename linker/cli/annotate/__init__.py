"""`linker annotate`: sessions, labeling in a terminal, and simulation."""
