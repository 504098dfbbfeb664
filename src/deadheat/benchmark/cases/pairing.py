"""What is wrong with the pairs of cases in several languages: other expected ids, no partner, no pair_id at all."""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.benchmark.cases.documents import Document
from deadheat.benchmark.cases.findings import Finding, found_at, listed_lines
from deadheat.benchmark.cases.model import Case, Cases
from deadheat.wording import counted


def check_pairs(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield pairs that do not ask for the same, cases that are alone, and languages that could be paired."""
    if len(cases.languages) < 2:
        return
    paired: dict[str, list[Case]] = {}
    for case in cases:
        if case.pair_id is not None and case.language is not None:
            paired.setdefault(case.pair_id, []).append(case)
    if not paired:
        yield from _unpaired(document, cases)
        return
    for pair, own in paired.items():
        if len({frozenset(case.expected_ids) for case in own}) > 1:
            expected = " and ".join(f"{'|'.join(case.expected_ids) or 'nothing'} in {case.language}" for case in own)
            message = f"pair_id {pair!r} expects {expected} ({listed_lines([case.line for case in own])})"
            advice = "Cases of one pair_id should ask for the same: correct an expected id, or the pair_id."
            yield found_at(document.path, own[1].line, "unlike_pair", message, advice, case_id=own[1].case_id)
    alone = [own[0] for own in paired.values() if len(own) == 1]
    alone += [case for case in cases if case.pair_id is None or case.language is None]
    if alone:
        lines = listed_lines(sorted(case.line or 0 for case in alone))
        message = f"{len(alone):,} of {counted(len(cases), 'case')} have no pair_id that another language has ({lines})"
        yield found_at(
            document.path, None, "unpaired_case", message, "They count in no comparison of languages, case by case."
        )


def _unpaired(document: Document, cases: Cases) -> Iterator[Finding]:
    """Say that cases of several languages, none with a pair_id, expect the same ids."""
    languages: dict[frozenset[str], list[str]] = {}
    for case in cases:
        if case.language is not None and case.expected_ids:
            languages.setdefault(frozenset(case.expected_ids), []).append(case.language)
    once = {ids: own for ids, own in languages.items() if 1 < len(own) == len(set(own))}
    n = sum(map(len, once.values()))
    if 2 * n >= len(cases):
        message = f"{n:,} of {counted(len(cases), 'case')} expect what one case of another language expects"
        advice = (
            "If they ask for the same, give each such group a common pair_id, in a column of that name: languages are"
            " then compared case by case."
        )
        yield found_at(document.path, None, "missing_pair", message, advice)
