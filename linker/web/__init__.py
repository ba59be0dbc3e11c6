"""The page for labelling and for trying a ranking, and the server behind it."""
