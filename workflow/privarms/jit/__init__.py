"""Tools for numba: a disk cache of compiled kernels, intrinsics, and binomial draws of large counts."""
