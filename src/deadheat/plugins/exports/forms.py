"""Where the results of search libraries have their ids and numbers, and what they are wrapped in."""

from deadheat.core.io.forms import REGISTERED, Shape
from deadheat.core.io.notes import Ranked

NEARNESS = "nearness"  # of Chroma, minus the distance, as `chroma.lists_of_chroma` returns it
NEAREST = Ranked("distances of Chroma: the score of a result is minus its distance", "the nearest ranks first already")

REGISTERED.shapes += [
    Shape((NEARNESS,), "id", NEARNESS, assumes=NEAREST),
    Shape(("hit",), "hit._id", "hit._score", "rating"),  # in a response of _rank_eval
    Shape(("_id",), "_id", "_score", "rating", within="_index"),  # Elasticsearch, OpenSearch
    Shape(("docId", "rating"), "docId", qrels="rating"),  # OpenSearch's judgments
    Shape(("corpus_id",), "corpus_id", "score", "score"),  # sentence-transformers, BEIR
    Shape(("node",), "node.node_id", "score"),  # LlamaIndex
    Shape(("node_id",), "node_id"),
    Shape(("page_content", "metadata"), "id"),  # LangChain
]
# Elasticsearch's response, plain or in its client's object; its hits; Haystack, Solr, LlamaIndex, Qdrant, others
REGISTERED.holders += [
    *("hits.hits", "body.hits.hits", "hits", "documents", "response.docs", "source_nodes", "points", "results"),
]
# LangChain, Haystack, Qdrant, Elasticsearch, Weaviate, and others
REGISTERED.places_of_ids += ["metadata", "meta", "payload", "document", "_source", "_additional"]
REGISTERED.places_of_scores += ["metadata", "meta", "_additional"]
REGISTERED.places_of_passages += ["metadata", "meta"]  # of LangChain, Haystack and LlamaIndex
# of databases
REGISTERED.no_scores += ["_id", "_rowid", "_rowaddr", "_version", "_seq_no", "_primary_term", "_doc", "_ts"]
REGISTERED.judged.append("hit")  # in a response of _rank_eval, the rating is beside it
