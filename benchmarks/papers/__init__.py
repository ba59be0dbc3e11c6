"""The experiments of De Boom et al. 2016, Twitter4SSE and WRAPresentations."""
