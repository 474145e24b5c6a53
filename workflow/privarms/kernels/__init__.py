"""Kernels that several policies, fast paths, protocols or audits share."""
