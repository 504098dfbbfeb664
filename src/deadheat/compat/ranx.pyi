from deadheat.plugins.compat.ranx import compare as compare, evaluate as evaluate
