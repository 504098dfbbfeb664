"""One module for each outside library; nothing in the package imports them."""
