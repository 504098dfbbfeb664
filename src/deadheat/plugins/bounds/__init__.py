"""Bounds over unjudged documents: the least and the greatest value that labels could give, and what they reverse.

It registers two modes of evaluating (`over_labels.py`; `over_places.py` for grades that a judge did not give), their
options and settings (`options.py`, `conventions.py`), facts of reports (`report.py`), what saved files keep
(`saved.py`), and services for `Scores` and `Comparison`. `documents.py` finds where unjudged documents are ranked.
`ends.py` has the bounds of each measure by the arithmetic of `kernel.py`, `anywhere.py` those over places; `part.py`
makes them a part of scores. `differences.py` bounds the difference of two systems; by measures of `joint_ends.py` a
document that both retrieve has one label.

A measure gets bounds by an entry of `ENDS` in `ends.py`, and exact ones of differences by one of `JOINT_ENDS`.
"""
