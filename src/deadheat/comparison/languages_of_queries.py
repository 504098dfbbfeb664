"""Languages of the queries of a comparison: which belong together by a table, and which of them by none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from deadheat.comparison.compare_languages import PAIR, languages_of, split_by_language
from deadheat.comparison.comparison import Comparison
from deadheat.comparison.languages import Languages
from deadheat.comparison.pair_clusters import clusters_of_pairs
from deadheat.data.queries import Queries
from deadheat.wording import counted


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
        None where the table has no column language or pair_id, or no pair in two languages.
    """
    if PAIR not in table.columns or table.language_column is None:
        return None
    found, pairs = split_by_language(comparison.evaluations, table)
    times = Counter(pair for own in pairs.values() for pair in set(own.values()))
    paired = {language for language, own in pairs.items() if any(times[pair] > 1 for pair in own.values())}
    if not paired:
        return None
    kept = {language: pairs[language] for language in pairs if language in paired}
    cluster = None
    if comparison.cluster is not None:
        codes = dict(zip(comparison.query_ids.tolist(), comparison.cluster.tolist(), strict=True))
        cluster = clusters_of_pairs(
            {language: {pair: (codes[query],) for query, pair in own.items()} for language, own in kept.items()}
        )
    languages = languages_of(
        {language: found[language] for language in kept},
        kept,
        design=comparison.design,
        name="queries",
        cluster=cluster,
    )
    return replace(languages, unpaired=_alone(comparison, table, kept))


def _alone(comparison: Comparison, table: Queries, kept: Mapping[str, Mapping[str, str]]) -> str:
    """Count the queries of each language that no pair_id pairs; those whose language is paired are told elsewhere."""
    ids = comparison.query_ids.tolist()
    languages = table.column(table.language_column or "", ids)
    of_language = Counter(
        language or "no language"
        for query, language in zip(ids, languages, strict=True)
        if query not in kept.get(language or "", {})
    )
    return ", ".join(f"{counted(n, 'query', 'queries')} of {language}" for language, n in of_language.items())
