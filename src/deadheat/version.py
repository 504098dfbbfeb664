"""The version of the package: to look it up among what is installed takes longer than to compute five measures."""

__version__ = "0.9.0"
