"""compare_languages(): opens and checks the evaluations of several languages, and pairs their queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from deadheat.arguments import Rng
from deadheat.comparison.languages import Languages
from deadheat.comparison.pair_clusters import PairClusters
from deadheat.comparison.pairs import Design
from deadheat.data.queries import Queries
from deadheat.data.tables import Source
from deadheat.errors import ColumnError, DataError, ParameterError
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import Cluster, cluster_codes

PAIR = "pair_id"  # the column that says which queries are the same in several languages


def compare_languages(
    evaluations: Mapping[str, Evaluation | Mapping[str, Evaluation]],
    pairs: Mapping[str, Mapping[str, str]] | None = None,
    *,
    queries: Source | None = None,
    name: str = "queries",
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    method: str = "auto",
    cluster: Cluster = None,
    rng: Rng = 0,
) -> Languages:
    """Compare languages query by query: the same system on the same queries, asked in one language and in another.

    Parameters
    ----------
    evaluations : dict of str to Evaluation, or to dict of str to Evaluation
        By language, of one system or of several by name; of the same measures and conventions. With `queries`: by
        name, each of a system on the queries of all languages.
    pairs : dict of str to dict of str to str, optional
        By language, what each query shares with its translations; queries without an entry are left out. By default
        queries that belong together have the same id in each language.
    queries : path or frame, optional
        A table of queries with the columns language and pair_id, which says what belongs together.
    name : str, default "queries"
    baseline : str, optional
        The system with whose gaps those of the others are compared; by default every pair.
    test, correction, alternative, confidence_level, n_resamples, method, rng
        As for :func:`compare`; Tukey's test takes the queries that all languages have.
    cluster : dict or sequence, optional
        What queries share, by the ids that the languages share.

    Returns
    -------
    Languages

    Raises
    ------
    ParameterError
        There is one language only, or the systems of the languages differ.
    DataError
        Two languages share no query.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels = {"fever": {"D1": 1}, "pain": {"D2": 1}, "rash": {"D3": 1}}
    >>> english = evaluate(qrels, {name: dict.fromkeys(found, 1.0) for name, found in qrels.items()}, "RR")
    >>> french = evaluate(qrels, {name: {"D1": 2.0, "D2": 1.0} for name in qrels}, "RR")
    >>> found = compare_languages({"en": english, "fr": french})
    >>> (one,) = found.differences
    >>> one.pair.system, one.pair.baseline, round(one.pair.difference, 4)
    ('fr', 'en', -0.5)
    >>> found.across[0].worst, round(found.across[0].variance, 4)
    ('fr', 0.0625)
    """
    design = Design(
        baseline=baseline,
        test=test,
        correction=correction,
        alternative=alternative,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        method=method,
        rng=rng,
    )
    if queries is not None:
        evaluations, pairs = split_by_language(evaluations, Queries.of(queries))
    named = {
        language: dict(own) if isinstance(own, Mapping) else {own.name: own} for language, own in evaluations.items()
    }
    if pairs is not None and (unknown := sorted(named.keys() - pairs.keys())):
        raise ParameterError("has no entry of a language", argument="pairs", given=unknown[0], allowed=list(pairs))
    if all(not isinstance(own, Mapping) for own in evaluations.values()):  # one system, whatever its runs are called
        named = {language: {"run": one} for language, own in named.items() for one in own.values()}
    return languages_of(named, pairs, design=design, name=name, cluster=cluster)


def split_by_language(
    evaluations: Mapping[str, Any], table: Queries
) -> tuple[dict[str, dict[str, Evaluation]], dict[str, dict[str, str]]]:
    """Return the evaluations of each language, and the pair id of each of its queries that has one.

    Parameters
    ----------
    evaluations : dict of str to Evaluation
        By system.
    table : Queries
        With the columns language and pair_id.
    """
    if any(not isinstance(one, Evaluation) for one in evaluations.values()):
        allowed = "a dict of system to Evaluation, where queries have the languages"
        raise ParameterError(argument="evaluations", given=list(evaluations), allowed=allowed)
    column = table.language_column
    if column is None:
        raise ColumnError("no column 'language' in the table of queries", allowed="one", path=table.where)
    table.check_columns([PAIR])
    found: dict[str, dict[str, Evaluation]] = {}
    pairs: dict[str, dict[str, str]] = {}
    for name, one in evaluations.items():
        ids = one.query_ids.tolist()
        table.check_common(ids)
        of_query = list(zip(ids, table.column(column, ids), table.column(PAIR, ids), strict=True))
        for language in sorted({language for _, language, pair in of_query if language and pair}):
            own = {query: pair for query, of, pair in of_query if of == language and pair}
            _check_pairs(own, language, table.where)
            found.setdefault(language, {})[name] = one.select(np.array([query in own for query in ids], np.bool_))
            pairs.setdefault(language, {}).update(own)
    return found, pairs


def _check_pairs(pairs: Mapping[str, str], language: str, where: str) -> None:
    """Raise if two queries of a language have one pair id."""
    seen: dict[str, str] = {}
    for query, pair in pairs.items():
        if (other := seen.setdefault(pair, query)) != query:
            raise DataError(
                f"queries {other!r} and {query!r} have the {PAIR} {pair!r}, both in {language}",
                hint="one query of each language may have it",
                path=where,
            )


def languages_of(
    evaluations: Mapping[str, Mapping[str, Evaluation]],
    pairs: Mapping[str, Mapping[str, str]] | None,
    *,
    design: Design,
    name: str,
    cluster: Cluster | PairClusters = None,
) -> Languages:
    """Do what :func:`compare_languages` does, under a given design."""
    if len(evaluations) < 2:
        raise ParameterError("needs two languages or more", argument="evaluations", given=list(evaluations))
    _check_systems(evaluations)
    systems = list(next(iter(evaluations.values())))
    if design.baseline is not None and design.baseline not in systems:
        raise ParameterError(argument="baseline", given=design.baseline, allowed=systems)
    renamed = {
        language: {system: one if pairs is None else _renamed(one, pairs[language]) for system, one in own.items()}
        for language, own in evaluations.items()
    }
    ids = {language: set(next(iter(own.values())).query_ids.tolist()) for language, own in renamed.items()}
    counts = Counter(one for own in ids.values() for one in own)
    shared = {one for one, n in counts.items() if n > 1}
    for language, own in ids.items():
        if own.isdisjoint(shared):
            raise DataError(f"no query of {language} is one of {', '.join(ids.keys() - {language})} too")
    kept = {
        language: {system: _renamed(one, {i: i for i in ids[language] & shared}) for system, one in own.items()}
        for language, own in renamed.items()
    }
    query_ids = np.array(sorted(shared), dtype=object)
    left_out = {language: _n_of(own) - len(ids[language] & shared) for language, own in evaluations.items()}
    if isinstance(cluster, PairClusters):
        codes = cluster_codes(cluster.codes, None, query_ids)
        return Languages(name, kept, design, query_ids, codes, left_out, cluster.differ)
    return Languages(name, kept, design, query_ids, cluster_codes(cluster, None, query_ids), left_out)


def _n_of(systems: Mapping[str, Evaluation]) -> int:
    return len(next(iter(systems.values())).query_ids)


def _renamed(evaluation: Evaluation, names: Mapping[str, str]) -> Evaluation:
    """Return an evaluation under the ids that languages share; each may name one query."""
    held = [names[one] for one in evaluation.query_ids.tolist() if one in names]
    twice = next((one for one, n in Counter(held).items() if n > 1), None)
    if twice is not None:
        raise DataError(
            f"two queries of {evaluation.name} are called {twice!r} across languages", hint="pair each once"
        )
    return evaluation.renamed(names)


def _check_systems(evaluations: Mapping[str, Mapping[str, Evaluation]]) -> None:
    """Raise if languages have other systems or measures than the first, or other conventions."""
    (first, own), *others = evaluations.items()
    for language, systems in others:
        if set(systems) != set(own):
            held = " and ".join(", ".join(names) for names in (own, systems))
            raise ParameterError(f"{first} and {language} have different systems", argument="evaluations", given=held)
        for name, one in systems.items():
            if list(map(str, one.measures)) != list(map(str, own[name].measures)):
                raise ParameterError(
                    f"{name} was evaluated with other measures in {language} than in {first}", argument="evaluations"
                )
            if one.conventions != own[name].conventions:
                raise ParameterError(
                    f"{name} was evaluated under other conventions in {language} than in {first}",
                    argument="evaluations",
                )
