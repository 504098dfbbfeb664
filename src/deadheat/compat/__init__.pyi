from deadheat.plugins.compat.switch import install as install
