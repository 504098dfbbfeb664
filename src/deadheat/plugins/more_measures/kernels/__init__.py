"""Kernels that only measures of this plugin need: arrays in, arrays out, as those of the core."""
