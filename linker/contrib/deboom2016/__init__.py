"""Learned word weights by idf rank (De Boom et al. 2016)."""
