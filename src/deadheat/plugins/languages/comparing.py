"""compare_languages(): pair queries of several languages, and compare systems across them."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.core.data.queries import Queries
from deadheat.core.data.sources import Source
from deadheat.core.design import Design
from deadheat.core.errors import ColumnError, DataError, ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import Cluster
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.core.evaluation.together import check_use
from deadheat.core.random_generators import Rng
from deadheat.core.stats.joined_groups import joined_groups
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.languages.across import Languages

PAIR = "pair_id"  # the column that says which queries are the same in several languages


def compare_languages(
    evaluations: Mapping[str, Evaluation | Mapping[str, Evaluation]],
    pairs: Mapping[str, Mapping[str, str]] | None = None,
    *,
    queries: Source | None = None,
    name: str = "queries",
    baseline: str | None = None,
    test: str = "randomization",
    correction: str | None = None,
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
        There is one language only, the systems of the languages differ, or evaluations have weights or repeats.
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
    design = Design.of(locals())
    if queries is not None:
        evaluations, pairs = split_by_language(evaluations, Queries.of(queries))
    # one system, whatever its runs are called
    is_one = all(isinstance(own, Evaluation) for own in evaluations.values())
    named = {
        language: dict(own) if isinstance(own, Mapping) else {"run" if is_one else own.name: own}
        for language, own in evaluations.items()
    }
    if pairs is not None and (unknown := sorted(named.keys() - pairs.keys())):
        raise ParameterError("has no entry of a language", argument="pairs", given=unknown[0], allowed=list(pairs))
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
        raise ParameterError(
            argument="evaluations",
            given=list(evaluations),
            allowed="a dict of system to Evaluation, where queries have the languages",
        )
    _check_comparable(evaluations.values())  # while it is there: selecting queries drops it
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
            found.setdefault(language, {})[name] = one.select(np.array([query in own for query in ids], np.bool_))
            pairs.setdefault(language, {}).update(own)
    return found, pairs


def languages_of(
    evaluations: Mapping[str, Mapping[str, Evaluation]],
    pairs: Mapping[str, Mapping[str, str]] | None,
    *,
    design: Design,
    name: str,
    cluster: Cluster = None,
    shared_labels: Mapping[str, Mapping[str, Collection[Hashable]]] | None = None,
) -> Languages:
    """Do what :func:`compare_languages` does, under a given design.

    In place of `cluster`, `shared_labels` says by language and pair id what a query shares with others: pairs that
    share something in any language are one cluster.
    """
    if len(evaluations) < 2:
        raise ParameterError("needs two languages or more", argument="evaluations", given=list(evaluations))
    _check_systems(evaluations)
    systems = list(next(iter(evaluations.values())))
    if unknown := [one for one in design.against if one not in systems]:
        raise ParameterError(argument="baseline", given=unknown[0], allowed=systems)
    _check_comparable([one for own in evaluations.values() for one in own.values()])
    # by language, what languages call each query; of all systems that of the first
    names = {
        language: {one: one for one in next(iter(own.values())).query_ids.tolist()}
        if pairs is None
        else pairs[language]
        for language, own in evaluations.items()
    }
    ids: dict[str, set[str]] = {}
    for language, own in evaluations.items():
        for one in own.values():
            held = [names[language][query] for query in one.query_ids.tolist() if query in names[language]]
            ids.setdefault(language, set(held))
            if len(ids[language]) < len(held):
                twice = next(shared for shared, n in Counter(held).items() if n > 1)
                raise DataError(
                    f"two queries of {one.name} in {language} are called {twice!r} across languages",
                    hint="pair each once",
                )
    counts = Counter(one for own_ids in ids.values() for one in own_ids)
    shared = {one for one, n in counts.items() if n > 1}
    for language, own_ids in ids.items():
        if own_ids.isdisjoint(shared):
            raise DataError(f"no query of {language} is one of {', '.join(ids.keys() - {language})} too")
    kept = {
        language: {query: one for query, one in own.items() if one in ids[language] & shared}
        for language, own in names.items()
    }
    query_ids, differ = np.array(sorted(shared), dtype=object), False
    if shared_labels is not None:
        cluster, differ = clusters_of_pairs(shared_labels)
    return Languages(
        name=name,
        evaluations={
            language: {system: one.renamed(kept[language]) for system, one in own.items()}
            for language, own in evaluations.items()
        },
        design=design,
        query_ids=query_ids,
        cluster=cluster_codes(cluster, None, query_ids),
        left_out={
            language: len(next(iter(own.values())).query_ids) - len(ids[language] & shared)
            for language, own in evaluations.items()
        },
        clusters_differ=differ,
    )


def _weighted_or_repeated(evaluations: Iterable[Evaluation]) -> list[str]:
    """Return the names of evaluations with weights or repeats, which means across languages would leave out."""
    return [one.name for one in evaluations if any(scores.is_weighted or scores.several_runs for scores in one)]


def _check_comparable(evaluations: Collection[Evaluation]) -> None:
    """Raise `ParameterError` for evaluations with something that means across languages would leave out."""
    if every := _weighted_or_repeated(evaluations):
        raise ParameterError(
            "with weights or repeats cannot be compared by language", argument="evaluations", given=every
        )
    check_use("compare_languages", evaluations)


def clusters_of_pairs(labels: Mapping[str, Mapping[str, Collection[Hashable]]]) -> tuple[dict[str, int], bool]:
    """Return the cluster of each pair id, and whether some language has them in smaller clusters: these are joined.

    Parameters
    ----------
    labels : mapping of str to mapping of str to collections
        By language and pair id: what its query shares with others.

    Examples
    --------
    >>> clusters_of_pairs({"en": {"p": "x", "q": "y"}, "fr": {"p": "x", "q": "x"}})
    ({'p': 0, 'q': 0}, True)
    """
    held = group_values((pair, keys) for own in labels.values() for pair, keys in own.items())
    codes = dict(zip(held, joined_groups([set().union(*keys) for keys in held.values()]), strict=True))
    return codes, any(
        len(set(joined_groups(list(own.values())))) > len({codes[pair] for pair in own}) for own in labels.values()
    )


def _check_systems(evaluations: Mapping[str, Mapping[str, Evaluation]]) -> None:
    """Raise if languages have other systems or measures than the first, or other conventions."""
    (first, own), *others = evaluations.items()
    for language, systems in others:
        if set(systems) != set(own):
            raise ParameterError(
                f"{first} and {language} have different systems",
                argument="evaluations",
                given=" and ".join(", ".join(names) for names in (own, systems)),
            )
        for name, one in systems.items():
            has_same = list(map(str, one.measures)) == list(map(str, own[name].measures))
            if not has_same or one.conventions != own[name].conventions:
                how = "under other conventions" if has_same else "with other measures"
                raise ParameterError(
                    f"{name} was evaluated {how} in {language} than in {first}", argument="evaluations"
                )


def languages_of_queries(comparison: Comparison, table: Queries) -> Languages | None:
    """Compare the languages of queries that share a pair_id, and say which queries share none.

    Parameters
    ----------
    comparison : Comparison
        Of systems, on the queries of all languages.
    table : Queries

    Returns
    -------
    Languages or None
        None where the table has no column language or pair_id, or no pair in two languages; and with weights,
        repeats or a judge.
    """
    if (
        PAIR not in table.columns
        or table.language_column is None
        or comparison.by_judge
        or _weighted_or_repeated(comparison.evaluations.values())
    ):
        return None
    found, pairs = split_by_language(comparison.evaluations, table)
    times = Counter(pair for own in pairs.values() for pair in set(own.values()))
    kept = {language: own for language, own in pairs.items() if any(times[pair] > 1 for pair in own.values())}
    if not kept:
        return None
    ids = comparison.query_ids.tolist()
    labels = None
    if comparison.cluster is not None:
        codes = dict(zip(ids, comparison.cluster.tolist(), strict=True))
        labels = {language: {pair: (codes[query],) for query, pair in own.items()} for language, own in kept.items()}
    languages = languages_of(
        {language: found[language] for language in kept},
        kept,
        design=comparison.design,
        name="queries",
        shared_labels=labels,
    )
    # the queries that no pair_id pairs; those whose language is paired are told elsewhere
    alone = Counter(
        language or "no language"
        for query, language in zip(ids, table.column(table.language_column, ids), strict=True)
        if query not in kept.get(language or "", {})
    )
    return replace(
        languages,
        unpaired=", ".join(f"{format_count(n, 'query', 'queries')} of {language}" for language, n in alone.items()),
    )
