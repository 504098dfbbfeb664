from deadheat.plugins.compat.ranx import (
    compare as compare,
    evaluate as evaluate,
    fuse as fuse,
    optimize_fusion as optimize_fusion,
)
