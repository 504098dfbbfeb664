"""Relevant documents in groups, one of each of which is enough: ``[["a", "b"], ["c"]]`` is a or b, and c.

The core reads the groups, and keeps them as subtopics. Here is what measures make of them.

* `measures.py`: which measures are defined: R is the share of the groups that the top k has a document of, AllHit
  whether it has one of each.
* `rule.py`: the kind of judgments, and the rule that qrels with groups have.
* `saved.py`: what saved evaluations keep of it.

For another measure over groups, add it to `measures.py`; what groups go with is in `registry.py`.
"""
