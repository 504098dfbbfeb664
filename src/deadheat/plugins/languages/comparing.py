"""compare_languages(): pair queries of several languages, and compare systems across them."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
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
    >>> english = evaluate(qrels, {query: dict.fromkeys(judged, 1.0) for query, judged in qrels.items()}, "RR")
    >>> french = evaluate(qrels, {query: {"D1": 2.0, "D2": 1.0} for query in qrels}, "RR")
    >>> languages = compare_languages({"en": english, "fr": french})
    >>> (difference,) = languages.differences
    >>> difference.pair.system, difference.pair.baseline, round(difference.pair.difference, 4)
    ('fr', 'en', -0.5)
    >>> languages.across[0].worst, round(languages.across[0].variance, 4)
    ('fr', 0.0625)
    """
    design = Design.of(locals())
    if queries is not None:
        evaluations, pairs = split_by_language(evaluations, Queries.of(queries))
    systems_by_language = _name_systems(evaluations)
    if pairs is not None:
        unknown = sorted(systems_by_language.keys() - pairs.keys())
        if unknown:
            raise ParameterError("has no entry of a language", argument="pairs", given=unknown[0], allowed=list(pairs))
    return languages_of(systems_by_language, pairs, design=design, name=name, cluster=cluster)


def _name_systems(
    evaluations: Mapping[str, Evaluation | Mapping[str, Evaluation]],
) -> dict[str, dict[str, Evaluation]]:
    """Return the evaluations by language and system; a single system is "run", whatever its runs are called."""
    has_one_system = all(isinstance(evaluation, Evaluation) for evaluation in evaluations.values())
    systems_by_language = {}
    for language, given in evaluations.items():
        if isinstance(given, Mapping):
            systems_by_language[language] = dict(given)
        elif has_one_system:
            systems_by_language[language] = {"run": given}
        else:
            systems_by_language[language] = {given.name: given}
    return systems_by_language


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
    if not all(isinstance(evaluation, Evaluation) for evaluation in evaluations.values()):
        raise ParameterError(
            argument="evaluations",
            given=list(evaluations),
            allowed="a dict of system to Evaluation, where queries have the languages",
        )
    _check_comparable(evaluations.values())  # before queries are selected, which drops weights and repeats
    column = table.language_column
    if column is None:
        raise ColumnError("no column 'language' in the table of queries", allowed="one", path=table.where)
    table.check_columns([PAIR])
    systems_by_language: dict[str, dict[str, Evaluation]] = {}
    pairs: dict[str, dict[str, str]] = {}
    for name, evaluation in evaluations.items():
        query_ids = evaluation.query_ids.tolist()
        table.check_common(query_ids)
        languages = table.column(column, query_ids)
        pair_ids = table.column(PAIR, query_ids)
        pair_of_query: dict[str, dict[str, str]] = {}  # by language
        for query_id, language, pair_id in zip(query_ids, languages, pair_ids, strict=True):
            if language and pair_id:
                pair_of_query.setdefault(language, {})[query_id] = pair_id
        for language in sorted(pair_of_query):
            is_of_language = np.array([query_id in pair_of_query[language] for query_id in query_ids], np.bool_)
            systems_by_language.setdefault(language, {})[name] = evaluation.select(is_of_language)
            pairs.setdefault(language, {}).update(pair_of_query[language])
    return systems_by_language, pairs


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
    unknown = [system for system in design.against if system not in systems]
    if unknown:
        raise ParameterError(argument="baseline", given=unknown[0], allowed=systems)
    _check_comparable([evaluation for of_language in evaluations.values() for evaluation in of_language.values()])
    shared_names = _list_shared_names(evaluations, pairs)
    query_ids = np.array(sorted(set().union(*(names.values() for names in shared_names.values()))), dtype=object)
    renamed = {}
    left_out = {}
    for language, of_language in evaluations.items():
        names = shared_names[language]
        renamed[language] = {system: evaluation.renamed(names) for system, evaluation in of_language.items()}
        left_out[language] = len(next(iter(of_language.values())).query_ids) - len(set(names.values()))
    clusters_differ = False
    if shared_labels is not None:
        cluster, clusters_differ = clusters_of_pairs(shared_labels)
    return Languages(
        name=name,
        evaluations=renamed,
        design=design,
        query_ids=query_ids,
        cluster=cluster_codes(cluster, None, query_ids),
        left_out=left_out,
        clusters_differ=clusters_differ,
    )


def _list_shared_names(
    evaluations: Mapping[str, Mapping[str, Evaluation]], pairs: Mapping[str, Mapping[str, str]] | None
) -> dict[str, dict[str, str]]:
    """Return by language what languages call each of its queries that another language has too.

    Raises
    ------
    DataError
        Two queries of a system are called the same, or a language shares no query.
    """
    names: dict[str, Mapping[str, str]] = {}
    for language, of_language in evaluations.items():
        if pairs is None:
            query_ids = next(iter(of_language.values())).query_ids.tolist()
            names[language] = {query_id: query_id for query_id in query_ids}
        else:
            names[language] = pairs[language]
    evaluated = {
        language: _list_evaluated_names(language, list(of_language.values()), names[language])
        for language, of_language in evaluations.items()
    }
    n_languages = Counter(name for names_of_language in evaluated.values() for name in names_of_language)
    shared = {name for name, n in n_languages.items() if n > 1}
    for language, names_of_language in evaluated.items():
        if names_of_language.isdisjoint(shared):
            others = ", ".join(evaluated.keys() - {language})
            raise DataError(f"no query of {language} is one of {others} too")
    shared_names: dict[str, dict[str, str]] = {}
    for language, name_of_query in names.items():
        kept = evaluated[language] & shared
        shared_names[language] = {query_id: name for query_id, name in name_of_query.items() if name in kept}
    return shared_names


def _list_evaluated_names(language: str, evaluations: Sequence[Evaluation], names: Mapping[str, str]) -> set[str]:
    """Return what languages call the queries of the first system; raise if a system has two of the same name."""
    evaluated_by_system = []
    for evaluation in evaluations:
        evaluated = [names[query_id] for query_id in evaluation.query_ids.tolist() if query_id in names]
        repeated = [name for name, n in Counter(evaluated).items() if n > 1]
        if repeated:
            raise DataError(
                f"two queries of {evaluation.name} in {language} are called {repeated[0]!r} across languages",
                hint="pair each once",
            )
        evaluated_by_system.append(set(evaluated))
    return evaluated_by_system[0]


def _list_weighted_or_repeated(evaluations: Iterable[Evaluation]) -> list[str]:
    """Return the names of evaluations with weights or repeats, which means across languages would leave out."""
    names = []
    for evaluation in evaluations:
        if any(scores.is_weighted or scores.several_runs for scores in evaluation):
            names.append(evaluation.name)
    return names


def _check_comparable(evaluations: Collection[Evaluation]) -> None:
    """Raise `ParameterError` for evaluations with something that means across languages would leave out."""
    names = _list_weighted_or_repeated(evaluations)
    if names:
        raise ParameterError(
            "with weights or repeats cannot be compared by language", argument="evaluations", given=names
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
    labels_of_pair: dict[str, set[Hashable]] = {}
    for of_language in labels.values():
        for pair_id, keys in of_language.items():
            labels_of_pair.setdefault(pair_id, set()).update(keys)
    codes = dict(zip(labels_of_pair, joined_groups(list(labels_of_pair.values())), strict=True))
    has_smaller = False
    for of_language in labels.values():
        n_clusters = len(set(joined_groups(list(of_language.values()))))
        n_joined = len({codes[pair_id] for pair_id in of_language})
        has_smaller = has_smaller or n_clusters > n_joined
    return codes, has_smaller


def _check_systems(evaluations: Mapping[str, Mapping[str, Evaluation]]) -> None:
    """Raise if languages have other systems or measures than the first, or other conventions."""
    (first, systems_of_first), *others = evaluations.items()
    for language, systems in others:
        if set(systems) != set(systems_of_first):
            raise ParameterError(
                f"{first} and {language} have different systems",
                argument="evaluations",
                given=f"{', '.join(systems_of_first)} and {', '.join(systems)}",
            )
        for name, evaluation in systems.items():
            evaluation_in_first = systems_of_first[name]
            if list(map(str, evaluation.measures)) != list(map(str, evaluation_in_first.measures)):
                how = "with other measures"
            elif evaluation.conventions != evaluation_in_first.conventions:
                how = "under other conventions"
            else:
                continue
            raise ParameterError(f"{name} was evaluated {how} in {language} than in {first}", argument="evaluations")


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
    column = table.language_column
    if PAIR not in table.columns or column is None:
        return None
    if comparison.by_judge or _list_weighted_or_repeated(comparison.evaluations.values()):
        return None
    systems_by_language, pairs = split_by_language(comparison.evaluations, table)
    paired = _select_paired(pairs)
    if not paired:
        return None
    query_ids = comparison.query_ids.tolist()
    languages = languages_of(
        {language: systems_by_language[language] for language in paired},
        paired,
        design=comparison.design,
        name="queries",
        shared_labels=_label_by_cluster(comparison, paired),
    )
    # the queries that no pair_id pairs; those whose language is paired are told elsewhere
    n_unpaired: Counter[str] = Counter()
    for query_id, language in zip(query_ids, table.column(column, query_ids), strict=True):
        if query_id not in paired.get(language or "", {}):
            n_unpaired[language or "no language"] += 1
    parts = [f"{format_count(n, 'query', 'queries')} of {language}" for language, n in n_unpaired.items()]
    return replace(languages, unpaired=", ".join(parts))


def _select_paired(pairs: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Return the languages of which some query is paired with one of another language."""
    n_languages = Counter(pair_id for of_language in pairs.values() for pair_id in set(of_language.values()))
    paired = {}
    for language, of_language in pairs.items():
        if any(n_languages[pair_id] > 1 for pair_id in of_language.values()):
            paired[language] = of_language
    return paired


def _label_by_cluster(
    comparison: Comparison, pairs: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, tuple[int]]] | None:
    """Return by language and pair id the cluster of its query; None without clusters."""
    if comparison.cluster is None:
        return None
    codes = dict(zip(comparison.query_ids.tolist(), comparison.cluster.tolist(), strict=True))
    labels: dict[str, dict[str, tuple[int]]] = {}
    for language, of_language in pairs.items():
        labels[language] = {pair_id: (codes[query_id],) for query_id, pair_id in of_language.items()}
    return labels
