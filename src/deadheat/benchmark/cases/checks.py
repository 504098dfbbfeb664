"""What no schema sees: missing labels, repeated texts, the language, and how much a set can show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from deadheat.benchmark.cases.documents import FIELDS, Document
from deadheat.benchmark.cases.findings import Finding, listed_lines
from deadheat.benchmark.cases.language import code_of, guess, known
from deadheat.benchmark.cases.model import LABELS, SMALL, Case, Cases
from deadheat.benchmark.cases.reading import label
from deadheat.wording import counted, did_you_mean, shown

STANDARD = 200  # cases: fewer are good for development, and fewer than `SMALL` for a quick check
_HOW_TO_LABEL = {
    "difficulty": "Let people rate it easy, medium or hard: results can then be reported by it.",
    "category": "Write exact_match, synonym, abbreviation, layperson or complex: results can then be reported by it.",
    "domain": "Name the part of the collection that the case is about: results can then be reported by it.",
}


def half_width(n: int) -> float:
    """Return half the width of a 95% interval of a mean of `n` values from 0 to 1, at worst: half are 0, half 1.

    Examples
    --------
    >>> [round(half_width(n), 2) for n in (9, 50, 200, 500)]
    [0.33, 0.14, 0.07, 0.04]
    """
    return 1.96 * 0.5 / math.sqrt(n)


def check_fields(document: Document) -> Iterator[Finding]:
    """Yield the fields that are not read."""
    lines: dict[str, list[int]] = {}
    for row, line in zip(document.rows, document.lines, strict=True):
        for name in row:
            if name not in FIELDS or (name == "hpo_domain" and label(row.get("domain")) is not None):
                lines.setdefault(name, []).append(line)
    for name, own in lines.items():
        message = f"field {name!r} is not read{_in_cases(own)}"
        near = did_you_mean(name, FIELDS).strip() if name not in FIELDS else "Keep one of domain and hpo_domain."
        yield _about("unread_field", document, message, near, own[:1])
    yield from _beside_cases(document)


def _beside_cases(document: Document) -> Iterator[Finding]:
    """Yield the keys of a JSON object beside its cases, where they are not read."""
    for name in document.value if document.records.json and isinstance(document.value, dict) else ():
        if name not in {"metadata", "$schema", *document.records.keys}:
            advice = did_you_mean(name, ["metadata"]).strip() or "Move it into metadata."
            lines = [document.records.json.line_of([name])] if document.records.json else []
            message = f"field {name!r} beside {document.records.keys[0]!r} is not read"
            yield _about("unread_field", document, message, advice, lines)


def check_labels(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield the labels that cases lack, once for each label."""
    for name in LABELS:
        lacking = [case for case in cases if getattr(case, name) is None]
        if lacking:
            lack = f"{len(lacking):,} of {counted(len(cases), 'case')} lack"
            where = f" ({listed_lines([case.line for case in lacking])})"
            if len(lacking) == len(cases):
                lack, where = "all cases lack" if len(cases) > 1 else "the case lacks", ""
            advice = _HOW_TO_LABEL.get(name) or _how_to_name_language(document, lacking)
            yield _about("missing_label", document, f"{lack} a {name}{where}", advice, [])


def _how_to_name_language(document: Document, cases: Sequence[Case]) -> str:
    likely = guess(_joined([case.text for case in cases]))
    example = f", as the folder's name suggests: {code_of(document.path.absolute().parent.name)}"
    if code_of(document.path.absolute().parent.name) is None:
        example = f"; the texts look like {likely!r}" if likely else ", such as de"
    how = "Add a column language" if document.is_table else "Write it once, as metadata.language"
    return f"{how}, or give --language{example}. Languages are never evaluated together."


def check_grades(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield how many cases grade an expected id too low to be relevant for binary measures."""
    low = [case for case in cases if min(case.relevance, default=1.0) < 1]
    if low:
        message = (
            f"{len(low):,} of {counted(len(cases), 'case')} ({listed_lines([case.line for case in low])}): grades below"
            " 1 count in nDCG and other graded measures only: RR, Hit, P, R and AP take relevance >= 1 as relevant"
        )
        advice = "Write grades from 1 on for ids that a search should find."
        yield _about("low_grades", document, message, advice, [])


def check_texts(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield each text that several cases of one language have."""
    for group in cases.repeated_texts():
        lines = listed_lines([case.line for case in group])
        message = f"the text {shown(group[0].text)} appears {len(group)} times ({lines})"
        if len({frozenset(case.expected_ids) for case in group}) == 1:
            kind, advice = (
                "repeated_text",
                "Keep one: the others repeat its result, and count as if they were new.",
            )
        else:
            kind, message = "contradicting_text", f"{message}, with different expected ids"
            advice = "Keep one case with all of them: no ranking can satisfy both."
        case = group[1]
        yield Finding("warning", document.where(case.line), case.case_id, message, advice, kind, case.line)


def check_language(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield the sets and single texts that do not look like their stated language; this is only a guess."""
    for language, part in cases.by_language().items():
        code = known(language)
        if code is None:
            continue
        other = guess(_joined(part.texts()))
        if other is not None and other != code:
            message = f"the texts of language {language!r} look like {other!r} (a guess by py3langid)"
            yield _about("language", document, message, f"Check them; if so, write {other!r}.", [])
            continue
        for case in part:
            other = guess(case.text)
            if other in {None, code}:
                continue
            message = f"the text {shown(case.text)} of language {language!r} looks like {other!r} (a guess)"
            advice = f"Check it; if so, write language {other!r}."
            yield Finding("warning", document.where(case.line), case.case_id, message, advice, "language", case.line)


def _joined(texts: Sequence[str]) -> str:
    return ". ".join(texts)


def check_size(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield the languages that have too few cases for a sound conclusion."""
    for language, part in cases.by_language().items():
        n = len(part)
        if n < STANDARD:
            of = f" of language {language!r}" if language else ""
            message = (
                f"{counted(n, 'case')}{of}: the 95% interval of a mean can be as wide as"
                f" ± {half_width(n):.2f} (of a measure from 0 to 1)"
            )
            use = "Good for development." if n >= SMALL else "Good for a quick check only."
            advice = f"{use} Collect {STANDARD} for a conclusion (± {half_width(STANDARD):.2f}), 500 for a fine one."
            yield _about("few_cases", document, message, advice, [])


def check_independence(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield how many cases share an expected id: what makes one hard makes the other hard too."""
    seen: set[str] = set()
    sharing = []
    for case in cases:
        if not seen.isdisjoint(case.expected_ids):
            sharing.append(case)
        seen.update(case.expected_ids)
    if sharing:
        n, lines = len(sharing), listed_lines([case.line for case in sharing])
        message = f"{n:,} of {counted(len(cases), 'case')} expect an id that an earlier case expects too ({lines})"
        advice = "They are not independent: use cluster intervals, one cluster for each expected id."
        yield _about("shared_ids", document, message, advice, [])


def _in_cases(lines: Sequence[int]) -> str:
    return f" in {len(lines):,} cases ({listed_lines(lines)})" if len(lines) > 1 else ""


def _about(kind: str, document: Document, message: str, advice: str, lines: Sequence[int]) -> Finding:
    """Return a warning about the file, or about a line of it."""
    line = lines[0] if lines else None
    return Finding("warning", document.where(line), "", message, advice, kind, line)
