"""Training of cross-encoders, with hard negatives from the ranking of a first stage."""
