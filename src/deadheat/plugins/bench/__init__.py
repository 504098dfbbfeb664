"""Benchmarks: run retrievers on labelled cases, and compare them; results are kept, so that a run can be resumed.

Adds the functions `bench`, `read_cases`, `read_collection`, `read_ontology`, the retrievers, and the commands ``bench``
and ``validate``. Labelled cases are read as qrels everywhere, by the service ``cases``.

* `cases` reads and checks labelled cases; `collection` and `ontology` read the documents.
* `case_groups` splits cases by set and language; `families` finds the languages whose cases are paired.
* `retrievers` has one file a retriever; `retrievers.protocol` says what one has to do.
* `bench` runs them, `store` keeps results in a folder, `result` is what comes out, `report` shows it.

A new retriever is a class with the methods of `retrievers.protocol.Retriever`, in a file of its own.
"""
