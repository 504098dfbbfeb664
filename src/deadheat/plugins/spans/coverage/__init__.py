"""What the top k covers of spans: the measures, in `measures`, and the arithmetic of intervals, in `top`."""

import deadheat.core.measures  # noqa: F401 - it imports the files with measures: none of them may come before it
