"""What knows how numba compiles: the cache of compiled kernels, intrinsics, binomial draws of large counts."""
