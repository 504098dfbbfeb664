"""A short part of the fuzzer, always the same; ``make fuzz`` goes on where it ends."""

from __future__ import annotations

from random import Random

import pytest

from fuzz import strict
from fuzz.kinds import KINDS
from fuzz.mutations import ACCIDENTS, damaged
from fuzz.running import run

SEED = 2026


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_damaged_files_are_read_right_or_refused(name: str) -> None:
    findings = [found for number in range(KINDS[name].n_cases) if (found := run(SEED, number, [name]))]
    assert not findings, "\n".join(map(str, findings))


def test_a_case_is_the_same_when_it_is_made_again() -> None:
    data = b"q1,d1,1\nq1,d2,2\n" * 5
    assert [damaged(data, Random(n)) for n in range(50)] == [damaged(data, Random(n)) for n in range(50)]
    for accident in ACCIDENTS:
        for given in (b"", b"x", data):
            assert isinstance(accident(given, Random(1)), bytes)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("query_id,doc_id,score\nq,d,1\nq,e,2,3\n", 3),
        ('query_id,doc_id,score\nq,d,"95', 2),
        ("query_id,doc_id,score\nq,d,1\r\r\n", 2),
        ("query_id,doc_id,score\nq,d\x85,1\n", 2),
        ("query_id,doc_id,score\nq,d,9007199254740993\n", 2),
    ],
)
def test_the_strict_reader_is_strict(text: str, line: int) -> None:
    with pytest.raises(strict.Refused) as caught:
        strict.table(text.encode(), ",")
    assert line in caught.value.lines


def test_the_strict_reader_reads() -> None:
    assert strict.table(b'score,"query_id",doc_id\n1.5,q,"a ""b"""\n', ",") == [("q", 'a "b"', "1.5")]
    assert strict.trec(b"q Q0 d 1 -0.0 t\r\n") == [("q", "d", "0.0")]
    assert strict.json_lines(b'{"qid": 1.50, "docno": "d", "score": 2}') == [("1.50", "d", "2.0")]
    assert strict.nested(b'{"q": {"d": 1e2}}') == [("q", "d", "100.0")]
