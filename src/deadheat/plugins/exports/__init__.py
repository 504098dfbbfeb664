"""Exports: results and judgments as other tools return or write them, known by their form; none is imported.

Adds forms of results (LangChain, LlamaIndex, Haystack, Elasticsearch, OpenSearch, Qdrant, Chroma and others), JSON
documents, folders with a response in each file, and Quepid's CSV. Plain dicts, lists and tables need none of it.

* `forms` says where ids, scores and lists are in results; `chroma` reads its lists side by side.
* `ratings` (OpenSearch, the request of ``_rank_eval``), `mteb`, `quepid`, `rank_eval` (its response), `failures` and
  `responses` read a JSON document each; the order in which they are asked is in the registry.
* `folders` reads responses from files, `quepid_tables` CSV of Quepid; `parts` has what documents share.
* `data_sets` (ir_datasets) and `ranx` read objects of these libraries.

The results of another library are a line in `forms`, another document is a module with ``@export``.
"""
