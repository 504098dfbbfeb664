"""One module for each outside library, the public path of what a plugin has for it; nothing imports them."""
