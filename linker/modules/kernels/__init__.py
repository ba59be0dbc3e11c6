"""Kernels of the star transformer: plain torch, and C++ for CPUs."""
