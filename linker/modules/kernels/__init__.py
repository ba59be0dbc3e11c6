"""Kernels of the star transformer and of entmax: reference, C++ and Triton."""
