"""Diversity: measures of judgments by subtopic, in which each further document of a subtopic is worth less.

Adds the measures alpha_DCG, alpha_nDCG, ERR_IA, nERR_IA, NRBP, nNRBP, AP_IA, P_IA, StRecall and StAllHit. The core
reads the subtopics of qrels and hands them on in the placements.

* `topics` finds the subtopics of the documents of placements, and the ideal list.
* `measures` has the measures that are sums over ranks, each a class.
* `all_topics` has StAllHit, and `covering` the chance that it is 1.

A new measure is a subclass of `TopicMeasure`, whose `worth` says what a document adds; registry.py has its name.
"""

import deadheat.core.measures  # noqa: F401 - it imports the files with measures: none of them may come before it
