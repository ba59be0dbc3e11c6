"""Kernels of the star transformer and of entmax: reference in torch, C++ and Triton."""
