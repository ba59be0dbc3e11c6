"""Learned word weights (De Boom et al. 2016)."""
