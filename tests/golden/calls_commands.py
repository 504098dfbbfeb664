"""What every command prints as JSON, and some tables."""

from __future__ import annotations

from golden.commands import printed, printed_table
from golden.entries import entry

EVALUATE = """
evaluate qrels.txt fair.run
evaluate graded.txt graded.run -m 'nDCG@3 MAP NumRet' --ci --per-query --beside doc_id --quantiles 0.5
evaluate qrels.txt weak.run good.run -m RR --queries queries.csv --by device --ci --unjudged bounds
evaluate qrels.txt weak.run good.run -m RR --queries queries.csv --by device --by market --weights traffic
evaluate qrels.txt fair.run -m RR --queries queries.csv --by device:market
evaluate graded.txt graded.run --ties random --rng 3 --score-precision 1 --rel 2 --no-relevant skip -m 'RR AP'
evaluate graded.txt graded.run --ties doc_id --depth 5 --judged-only -m 'RR AP'
evaluate qrels.txt --repeats 'fair=fair-*.run' -m RR --ci
evaluate human.txt labelled-fair.run -m 'RR nDCG@3' --judge judge.txt --ci
evaluate qrels.txt columns.csv --score-columns all -m 'RR AP'
evaluate qrels.txt fair.run --collection documents.csv --missing skip --score-precision float32 -m RR
evaluate unanswerable.csv fair.run -m 'RR Abstain'
evaluate shares.csv fair.run -m 'R AP' --no-relevant one
evaluate negative.csv fair.run -m RR --judged-only
evaluate qrels.txt fair.run --then-by good.run -m RR
evaluate fine.csv coarse.csv --spans spans.csv -m 'R@3 CharRecall@2'
evaluate subtopics.txt fair.run -m 'alpha_nDCG@3 StRecall@3'
evaluate qrels.txt fair.run -m trec
"""
COMPARE = """
compare qrels.txt weak.run fair.run -m 'nDCG@3 RR'
compare qrels.txt weak.run fair.run good.run --baseline weak -m RR --margin 0.1 --detect 0.1 --ranks --queries-worst 1
compare qrels.txt weak.run fair.run -m RR --queries queries.csv --by market --weights traffic
compare qrels.txt weak.run fair.run -m RR --queries languages.csv --test t --margin 0.1
compare qrels.txt weak.run fair.run -m RR --queries queries.csv --cluster session --test bootstrap-t --correction none
compare qrels.txt weak.run --repeats 'fair=fair-*.run' -m RR
compare qrels.txt --repeats 'weak=weak-*.run' --repeats 'fair=fair-*.run' -m RR
compare human.txt labelled-weak.run labelled-good.run -m RR --judge judge.txt
compare old.json new.json
compare old.json rejudged.json --judgments shared
compare heavy.json heavier.json
compare qrels.txt weak.run good.run -m RR --unjudged bounds --score-precision 2
compare qrels.txt weak.run good.run -m RR --ties best --no-relevant skip --missing skip --score-precision float16
compare qrels.txt weak.run good.run -m 'RR P@1' --orders --test t --correction none --confidence-level 0.7
compare fine.csv coarse.csv --spans spans.csv -m R@3
compare negative.csv weak.run fair.run -m RR --judged-only
compare unanswerable.csv weak.run fair.run -m 'RR Abstain'
"""
SAVED = """
gate qrels.txt fair.run -c 'RR > 0'
gate qrels.txt fair.run -c 'low(RR) > 0.9' -c 'each(device): nDCG@3 >= 0.1' --queries queries.csv --by market
gate new.json --baseline old.json --no-worse-than 0.2
gate qrels.txt fair.run --baseline o1
gate qrels.txt fair.run --preset rag --allow-unknown
rescore old.json qrels.txt
rescore old.json changed.txt -m 'RR AP'
rescore old.json shares.csv -m 'R AP'
diff qrels.txt changed.txt
diff qrels.txt changed.txt weak.run good.run -m 'RR AP' --collection documents.csv
history old.json
history old.json new.json rejudged.json --reference old.json
history heavy.json heavier.json
holes qrels.txt fair.run
"""
OTHERS = """
agree weak.run fair.run
agree o1 o2
agree weak.run fair.run good.run
leaderboard tasks -m RR
leaderboard results.csv
leaderboard results.csv --missing bounds --groups groups.csv --weights task-weights.csv
leaderboard results-by-query.csv --tasks fixed
ties weak.run
ties graded.run graded.txt -m 'RR nDCG@3'
ties fair.run qrels.txt -m RR --at 3
steps graded.txt graded.run --query q01
steps graded.txt graded.run --query q02 -m AP
steps graded.txt graded.run --query q05 -m ERR@3
explain graded.txt graded.run --reported RR=0.5
explain qrels.txt fair.run --reported RR=0.81 --reported AP=0.47
judges human.txt judge.txt
judges human.txt judge.txt --queries labelled-queries.csv --by device
judges human.txt judge.txt --run labelled-weak.run --run labelled-good.run -m RR
items fair.run
items fair.run training.csv
simulate --queries 20
simulate --coarsen fair.run qrels.txt -m RR
simulate --scenarios 3
measures nDCG
measures --for rag
bench cases.csv --collection documents.csv --retriever bm25
validate cases.csv
validate bad.csv
demo
"""
TABLES = """
evaluate qrels.txt weak.run good.run -m 'RR nDCG@3' --format csv
evaluate qrels.txt fair.run -m 'RR nDCG@3' --ci --per-query --format csv
compare qrels.txt weak.run good.run -m 'RR nDCG@3' --test t --format csv
leaderboard results.csv --format csv
ties fair.run qrels.txt --format csv
"""
TREC = """
evaluate graded.txt graded.run --format trec --ties doc_id -m trec
trec_eval graded.txt graded.run
trec_eval -q -m map -m P.5,10 -m ndcg_cut graded.txt graded.run
convert graded.run converted.tsv --force
"""


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, without empty ones."""
    return text.strip().splitlines()


@entry(lines_of(EVALUATE))
def evaluate(line: str) -> object:
    return printed(line)


@entry(lines_of(COMPARE))
def compare(line: str) -> object:
    return printed(line)


@entry(lines_of(SAVED))
def of_saved(line: str) -> object:
    return printed(line)


@entry(lines_of(OTHERS))
def others(line: str) -> object:
    return printed(line)


@entry(lines_of(TABLES))
def tables(line: str) -> object:
    return printed_table(line)


@entry(lines_of(TREC))
def trec(line: str) -> object:
    return printed_table(line, "\t")
