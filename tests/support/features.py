"""Features that can be asked of an evaluation, each as a change to one question, and how deadheat is asked it."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import deadheat as dh
from oracle.evaluations import Labels, Question, Scored

N_HUMAN, N_MORE = 42, 8  # of fewer than 40 queries with human labels a judge says nothing
N_OTHERWISE = 20  # queries without a judge, which is faster
HUMAN = [f"q{number:02d}" for number in range(N_HUMAN)]
MORE = [f"q{number:02d}" for number in range(N_HUMAN, N_HUMAN + N_MORE)]
DOCS = [f"é{number}" for number in range(5)]
MEASURES: dict[str, tuple[str, dict[str, float]]] = {
    "P@2": ("P", {"cutoff": 2}),
    "AP": ("AP", {}),
    "RR": ("RR", {}),
    "nDCG@3": ("nDCG", {"cutoff": 3}),
    "R@2": ("R", {"cutoff": 2}),
    "GMAP": ("GMAP", {}),
    "NumRelRet": ("NumRelRet", {}),
    "Judged@3": ("Judged", {"cutoff": 3}),
    "bpref": ("bpref", {}),
}
OF_SPANS = ("P@2", "RR", "R@2")
OF_GROUPS: dict[str, tuple[str, dict[str, float]]] = {
    "R@2": MEASURES["R@2"],
    "RR": MEASURES["RR"],
    "Hit@2": ("Hit", {"cutoff": 2}),
    "AllHit@3": ("AllHit", {"cutoff": 3}),
}
NO_SHARES = ("GMAP", "NumRelRet")
WITHOUT_RELEVANT = ("q05", "q17")
LACKING = ("q03", "q08")  # queries without results: of any run, of the second of several


def drawn_run(seed: int) -> Scored:
    """Return a run of all queries: three documents above, and perhaps more below, so that no tie goes across rank 3.

    Scores have a decimal; without it more of them tie.
    """
    rng = random.Random(seed)
    run = {}
    for query in (*HUMAN, *MORE):
        docs = list(DOCS)
        rng.shuffle(docs)
        above = {doc: rng.choice([3.0, 3.2, 4.0]) for doc in docs[:3]}
        below = {doc: rng.choice([1.0, 1.2]) for doc in docs[3 : rng.choice([3, 4, 5])]}
        run[query] = {**above, **below}
    return run


def drawn_labels(seed: int, queries: list[str], share: float) -> Labels:
    """Return labels 0, 1 and 2 of this share of all documents, at least of two of each query."""
    rng = random.Random(seed)
    labels: Labels = {}
    for query in queries:
        docs = [doc for doc in DOCS if rng.random() < share or doc in DOCS[1:3]]
        labels[query] = {doc: float(rng.choice([0, 1, 2])) for doc in docs}
    for query in WITHOUT_RELEVANT:
        labels[query] = dict.fromkeys(labels[query], 0.0)
    return labels


@dataclass
class Asked:
    """A question, and what of it only deadheat has to know: how ids, scores and tables are written.

    Attributes
    ----------
    question : Question
    options : dict of str to object
        Arguments of `evaluate` that change no number of the question.
    is_ascending : bool
        Whether the lowest scores of the run come first.
    has_other_form : bool
        Whether runs have their ids in another form of Unicode.
    are_spans : bool
        Whether each document is one chunk, and the relevant ones are spans.
    has_subtopics : bool
        Whether each document has a subtopic of its own.
    are_groups : bool
        Whether each relevant document is a group of its own.
    excluded : tuple of str
        Documents that every query retrieves and has judgments of beside those of the question, and that are excluded.
    """

    question: Question
    options: dict[str, Any] = field(default_factory=dict)
    is_ascending: bool = False
    has_other_form: bool = False
    are_spans: bool = False
    has_subtopics: bool = False
    are_groups: bool = False
    excluded: tuple[str, ...] = ()

    def evaluate(self) -> dh.Evaluation:
        """Return what deadheat says."""
        found = dh.evaluate(self.qrels(), self.run(), list(self.question.measures), **self.arguments())
        assert isinstance(found, dh.Evaluation)
        return found

    def qrels(self) -> Any:  # noqa: ANN401 - qrels in one of many forms
        """Return the judgments, in the form that the features ask for."""
        asked = self.question
        qrels = self._with_excluded_labels(asked.qrels)
        if self.are_spans:
            return dh.Spans({query: self._spans(query, docs) for query, docs in qrels.items()})
        if self.are_groups:
            return {query: [[doc] for doc in docs] for query, docs in qrels.items()}
        if asked.open_labels is not None:
            failed = {query: dict.fromkeys(docs, "no idea") for query, docs in asked.open_labels.items()}
            return dh.read_judgments({q: {**docs, **failed[q]} for q, docs in qrels.items()}, failed="bounds")
        if self.has_subtopics or asked.unanswerable:
            return dh.Qrels(self._rows(qrels))
        return qrels

    def run(self) -> Any:  # noqa: ANN401 - a run, or repeats
        """Return the run, or the repeats of a system."""
        runs = [self._run(run) for run in self.question.runs]
        return runs[0] if len(runs) == 1 else dh.Repeats(runs, "system")

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of `evaluate`: those that have not their default."""
        asked = self.question
        given = {
            "ties": asked.ties,
            "no_relevant": asked.no_relevant,
            "missing": asked.missing,
            "depth": asked.depth,
            "judged_only": asked.judged_only,
            "score_precision": asked.decimals,
            "rel": asked.rel,
            "weights": asked.weights,
            "judge": self._judge(),
            "exclude": self._exclude(),
            "ascending": self.is_ascending,
            "normalize_ids": "NFC" if self.has_other_form else None,
            "then_by": [self._written(key) for key in asked.keys] or None,
        }
        defaults = {"ties": "expected", "missing": "empty", "rel": 1.0}
        named = {}
        for name, value in given.items():
            if value is not None and value is not False and value != defaults.get(name):
                named[name] = value
        return self.options | named

    def _judge(self) -> Any:  # noqa: ANN401 - labels in one of two forms
        if self.question.judge is None:
            return None
        labels = self._with_excluded_labels(self.question.judge)
        return self._rows(labels) if self.has_subtopics else labels

    def _exclude(self) -> dict[str, list[str]] | None:
        """Return pairs of each query and each excluded document, as ids are written; None without any."""
        if not self.excluded:
            return None
        documents = [*self._written({"": dict.fromkeys(self.excluded, 0.0)})[""]]
        return dict.fromkeys((*HUMAN, *MORE), documents)

    def _with_excluded_labels(self, labels: Labels) -> Labels:
        """Return labels with those of excluded documents, the highest of all, except of queries with nothing relevant.

        What a judge failed to grade may be as high as all that he wrote, excluded or not: there they are no higher.
        """
        highest = 3.0 if self.question.open_labels is None else 2.0
        added = {}
        for query, own in labels.items():
            label = 0.0 if query in WITHOUT_RELEVANT else highest
            added[query] = {**own, **dict.fromkeys(self.excluded, label)}
        return added

    def _with_excluded_scores(self, run: Scored) -> Scored:
        """Return a run with the excluded documents: in turn above all others, and in a tie with some."""
        scores = {doc: (9.0, 3.0)[place % 2] for place, doc in enumerate(self.excluded)}
        return {query: {**scores, **documents} for query, documents in run.items()}

    def _written(self, run: Scored) -> Scored:
        """Return a run with its ids as they are written."""
        form: Literal["NFC", "NFD"] = "NFD" if self.has_other_form else "NFC"
        return {q: {unicodedata.normalize(form, doc): own for doc, own in docs.items()} for q, docs in run.items()}

    def _run(self, run: Scored) -> Any:  # noqa: ANN401 - dicts or chunks
        sign = -1 if self.is_ascending else 1
        whole = self._written(self._with_excluded_scores(run))
        written = {q: {doc: sign * score for doc, score in docs.items()} for q, docs in whole.items()}
        if not self.are_spans:
            return written
        return [
            {"query_id": query, "doc_id": doc, "start": 0, "end": 10, "score": score}
            for query, docs in written.items()
            for doc, score in docs.items()
        ]

    def _spans(self, query: str, labels: dict[str, float]) -> list[dict[str, Any]]:
        if query in self.question.unanswerable:
            return [{"answerable": False}]
        return [
            {"doc_id": doc, "start": 0, "end": 10, "relevance": relevance}
            for doc, relevance in labels.items()
            if relevance > 0
        ]

    def _rows(self, labels: Labels) -> list[dict[str, Any]]:
        """Return labels as rows, with the columns that some features have."""
        rows = []
        for query, docs in labels.items():
            for doc, relevance in docs.items():
                row: dict[str, Any] = {"query_id": query, "doc_id": doc, "relevance": relevance}
                if self.has_subtopics:
                    row["subtopic"] = doc
                if self.question.unanswerable:
                    row["answerable"] = query not in self.question.unanswerable
                rows.append(row)
        return rows


Change = Callable[[Asked], None]


@dataclass(frozen=True)
class Tried:
    """A feature to try.

    Attributes
    ----------
    change : callable
        Asks for it.
    declared : str
        The feature of the registry that it is, and its value if it has several: ``ties=doc_id``; empty of what data
        may hold, which goes with everything.
    words : str
        A pattern of the words by which a refusal names it.
    """

    change: Change
    declared: str
    words: str


TRIED: dict[str, Tried] = {}


def tried(
    name: str, declared: str = "", words: str = ""
) -> Callable[[Callable[[Asked], None]], Callable[[Asked], None]]:
    """Return a decorator that adds a feature."""

    def add(change: Callable[[Asked], None]) -> Callable[[Asked], None]:
        TRIED[name] = Tried(change, declared, words)
        return change

    return add


def asked_with(*names: str) -> Asked:
    """Return a question with these features; the run lacks a query, whatever is asked."""
    asked = Asked(Question(drawn_labels(10, HUMAN, 0.55), [drawn_run(0)], dict(MEASURES)))
    for name in names:
        TRIED[name].change(asked)
    if "judge" not in names:
        keep_queries(asked.question, HUMAN[:N_OTHERWISE])
    for number, run in enumerate(asked.question.runs):
        for query in LACKING[: number + 1]:
            del run[query]
    return asked


def keep_queries(question: Question, queries: list[str]) -> None:
    """Leave out all other queries."""
    by_queries: list[dict[str, Any]] = [question.qrels, *question.runs, question.open_labels or {}]
    for by_query in by_queries:
        for query in [query for query in by_query if query not in queries]:
            del by_query[query]


@tried("repeats", "repeats", "repeats|without its ranking")  # a mean over them has none
def _ask_for_repeats(asked: Asked) -> None:
    asked.question.runs += [drawn_run(1), drawn_run(2)]


@tried("judge", "judge", "judge")
def _ask_for_judge(asked: Asked) -> None:
    rng = random.Random(3)
    judge = drawn_labels(3, [*HUMAN, *MORE], 0.8)
    for query, labels in asked.question.qrels.items():
        judge[query].update({doc: relevance for doc, relevance in labels.items() if rng.random() < 0.8})
    asked.question.judge = judge


@tried("bounds", "bounds", "unjudged|bounds")
def _ask_for_bounds(asked: Asked) -> None:
    asked.options["unjudged"] = "bounds"
    asked.question.has_bounds = True


@tried("failures", "failures", "failures|unjudged|bounds|without a grade")
def _ask_for_failures(asked: Asked) -> None:
    """A judge fails to grade documents: some that nobody judged, and one that would have a label else."""
    rng = random.Random(7)
    failed = {}
    for query, labels in asked.question.qrels.items():
        failed[query] = [doc for doc in DOCS if doc not in labels and rng.random() < 0.7]
        if len(labels) > 2 and query not in WITHOUT_RELEVANT:
            doc = next(iter(labels))
            failed[query].append(doc)
            del labels[doc]
    asked.question.open_labels = failed
    asked.question.has_bounds = True


@tried("spans", "spans", "spans")
def _ask_for_spans(asked: Asked) -> None:
    question = asked.question
    asked.are_spans = True
    question.measures = {name: MEASURES[name] for name in OF_SPANS}
    _leave_relevant(question.qrels)


def _leave_relevant(qrels: Labels) -> None:
    """Leave relevant documents alone."""
    for labels in qrels.values():
        for doc in [doc for doc, relevance in labels.items() if relevance <= 0]:
            del labels[doc]


@tried("alternatives", "alternatives", "alternatives|groups")
def _ask_for_alternatives(asked: Asked) -> None:
    """Each group is one document: recall of groups is recall then."""
    asked.are_groups = True
    asked.question.measures = dict(OF_GROUPS)
    _leave_relevant(asked.question.qrels)


@tried("weights", "weights", "weights")
def _ask_for_weights(asked: Asked) -> None:
    weights = (0.0, 1.0, 2.0, 1.5, 2.0, 1.0)
    asked.question.weights = {query: weights[place % 6] for place, query in enumerate((*HUMAN, *MORE))}


@tried("depth", "depth", "depth")
def _ask_for_depth(asked: Asked) -> None:
    asked.question.depth = 3


@tried("judged_only", "judged_only", "judged_only")
def _ask_for_judged_only(asked: Asked) -> None:
    asked.question.judged_only = True


@tried("then_by", "then_by", "then_by")
def _ask_for_then_by(asked: Asked) -> None:
    asked.question.keys = [drawn_run(5)]


def _ask_for_ties(policy: str) -> None:
    def change(asked: Asked) -> None:
        asked.question.ties = policy
        if policy == "random":
            asked.options["rng"] = 6

    tried(f"ties={policy}", f"ties={policy}", "ties")(change)


for _policy in ("doc_id", "input", "best", "worst", "random"):
    _ask_for_ties(_policy)


@tried("score_precision", "score_precision", "score_precision")
def _ask_for_score_precision(asked: Asked) -> None:
    asked.question.decimals = 0


@tried("rel", "rel", "rel")
def _ask_for_rel(asked: Asked) -> None:
    asked.question.rel = 2


@tried("missing=skip", "missing=skip", "missing")
def _ask_to_skip_missing(asked: Asked) -> None:
    asked.question.missing = "skip"


def _ask_for_no_relevant(value: str) -> None:
    def change(asked: Asked) -> None:
        asked.question.no_relevant = value
        if value in {"one", "correct_if_empty"}:
            asked.question.measures = {
                name: measure for name, measure in asked.question.measures.items() if name not in NO_SHARES
            }

    tried(f"no_relevant={value}", f"no_relevant={value}", "no_relevant")(change)


for _value in ("zero", "skip", "one", "correct_if_empty"):
    _ask_for_no_relevant(_value)


@tried("ascending", "ascending", "ascending")
def _ask_for_ascending(asked: Asked) -> None:
    asked.is_ascending = True


@tried("normalize_ids", "normalize_ids", "normalize_ids")
def _ask_for_normalize_ids(asked: Asked) -> None:
    asked.has_other_form = True


@tried("collection", "collection", "collection")
def _ask_for_collection(asked: Asked) -> None:
    asked.options["collection"] = list(DOCS)


@tried("exclude", "exclude", "exclude")
def _ask_for_exclude(asked: Asked) -> None:
    asked.excluded = ("é7", "é8")


@tried("unanswerable")
def _have_unanswerable(asked: Asked) -> None:
    asked.question.unanswerable = WITHOUT_RELEVANT


@tried("negative labels")
def _have_negative_labels(asked: Asked) -> None:
    for query, labels in asked.question.qrels.items():
        if query > "q10" and DOCS[1] in labels:
            labels[DOCS[1]] = -1.0


@tried("subtopics")
def _have_subtopics(asked: Asked) -> None:
    """Each document has a subtopic of its own: recall of subtopics is recall then."""
    asked.has_subtopics = True
    asked.question.measures = {"StRecall@2": ("R", {"cutoff": 2}), "P@2": MEASURES["P@2"]}
