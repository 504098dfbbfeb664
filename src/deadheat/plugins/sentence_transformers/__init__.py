"""Evaluators of sentence-transformers with exact means over the orders of ties.

Adds no name to `deadheat`: people import `deadheat.integrations.sentence_transformers`, which is the module
`evaluators` here, a service of that name in the registry. It needs the package sentence-transformers, and PyTorch.

* `evaluators` has a subclass of each evaluator that ranks: of retrieval, of reranking, and of cross-encoders.

Another evaluator is a subclass there of `WithTies` and of the library's own, which keeps its arguments and keys.
"""
