"""Figures: each file has the numbers behind one figure, and the figure that is drawn of them."""
