"""Commands as processes of their own, as users start them."""

from __future__ import annotations

from golden.commands import hash_of_process, printed_by_process
from golden.entries import entry
from golden.plain import Numbers

NUMBERS = """
evaluate graded.txt graded.run -m 'nDCG@3 RR'
evaluate qrels.txt weak.run fair.run good.run -m 'nDCG@3 RR' --ties doc_id
evaluate qrels.txt fair.run -m RR --ci
compare qrels.txt weak.run good.run -m RR --test t
gate qrels.txt fair.run -c 'RR > 0.99'
rescore old.json changed.txt
steps graded.txt graded.run --query q01
holes qrels.txt fair.run -m RR
leaderboard results.csv
validate bad.csv
"""
WORDS = """
--help
measures --for rag
evaluate --help
compare --help-all
gate --list-presets
schema evaluate
measures nDCG
evaluate missing.txt graded.run
evaluate graded.txt
nothing
"""


@entry(NUMBERS.strip().splitlines())
def numbers(line: str) -> Numbers:
    return printed_by_process(line)


@entry(WORDS.strip().splitlines(), pinned=("click",))
def words(line: str) -> Numbers:
    """Exit codes, and hashes of what is printed."""
    return hash_of_process(line)
