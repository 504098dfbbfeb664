"""The data of the calls: the four real runs of the package, and small drawn data with every kind of tie.

Data are drawn by `random.Random.random` alone, which draws the same in every version of Python.
"""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import deadheat as dh

Grades: TypeAlias = dict[str, dict[str, float]]
Scores: TypeAlias = dict[str, dict[str, float]]

DEMO = Path(dh.__file__).parent / "core" / "demo"
REAL_QRELS = DEMO / "qrels.human.txt.gz"
REAL_RUNS = {path.name.removesuffix(".run.gz"): path for path in sorted(DEMO.glob("*.run.gz"))}


class Draw:
    """What is drawn from one seed."""

    def __init__(self, seed: int) -> None:
        self.source = random.Random(seed)

    def number(self) -> float:
        """Draw a number from 0 to 1."""
        return self.source.random()

    def below(self, n: int) -> int:
        """Draw one of 0, ..., n - 1."""
        return int(self.source.random() * n)

    def one_of(self, options: Sequence[Any]) -> Any:
        """Draw one of some options."""
        return options[self.below(len(options))]

    def some_of(self, options: Sequence[Any], n: int) -> list[Any]:
        """Draw n of some options, each once."""
        rest = list(options)
        return [rest.pop(self.below(len(rest))) for _ in range(n)]


def query_ids(n_queries: int) -> list[str]:
    """Return the names of queries."""
    return [f"q{number:02d}" for number in range(1, n_queries + 1)]


def draw_qrels(seed: int, n_queries: int, levels: Sequence[float], n_docs: int = 10) -> Grades:
    """Draw judgments of some of the documents; the last query has nothing relevant."""
    draw = Draw(seed)
    qrels: Grades = {}
    for query in query_ids(n_queries):
        judged = draw.some_of([f"d{number}" for number in range(n_docs)], n_docs - 2)
        qrels[query] = {doc: draw.one_of(levels) for doc in judged}
        qrels[query][judged[0]] = max(levels)
    qrels[query] = dict.fromkeys(qrels[query], 0)
    return qrels


def draw_run(
    seed: int, qrels: Grades, n_levels: int, help_of_relevance: float = 1.0, tied_share: float = 1.0
) -> Scores:
    """Draw scores, which relevance raises; in a share of the queries they are whole, so that documents tie."""
    draw = Draw(seed)
    run: Scores = {}
    for query, judged in qrels.items():
        is_tied = draw.number() < tied_share
        run[query] = {}
        for doc in draw.some_of([f"d{number}" for number in range(12)], 9):
            score = draw.number() * n_levels + help_of_relevance * max(judged.get(doc, 0), 0)
            run[query][doc] = float(int(score)) if is_tied else round(score, 3)
    return run


def blur_grades(seed: int, qrels: Grades) -> Grades:
    """Return the grades of somebody who is now and then one too high or too low."""
    draw = Draw(seed)
    blurred: Grades = {}
    for query, judged in qrels.items():
        blurred[query] = {doc: min(max(grade + draw.one_of((-1, 0, 0, 0, 1)), 0), 2) for doc, grade in judged.items()}
    return blurred


# judgments with levels from -1 to 3, and a run that lacks a query, has one of one tie, and has one without judgments
GRADED = draw_qrels(1, 7, (-1, 0, 0, 1, 2, 3))
GRADED_RUN = draw_run(2, GRADED, 3, 0.0)
del GRADED_RUN["q03"]
GRADED_RUN["q04"] = dict.fromkeys(GRADED_RUN["q04"], 0.5)
GRADED_RUN["q99"] = {"d1": 1.0, "d2": 1.0}

# what is compared: three systems, each better than the one before, over 24 queries
QRELS = draw_qrels(3, 24, (0, 0, 0, 1, 2))
CHANGED = {query: judged for query, judged in blur_grades(17, QRELS).items() if query != "q05"}
RUNS = {
    "weak": draw_run(4, QRELS, 4, 0.2, tied_share=0.25),
    "fair": draw_run(5, QRELS, 4, 0.8, tied_share=0.25),
    "good": draw_run(6, QRELS, 5, 1.6, tied_share=0.25),
}
# each system three times
REPEATS = {
    name: [draw_run(10 * number + seed, QRELS, 4, 0.3 + number / 2, tied_share=0.25) for seed in (41, 42, 43)]
    for number, name in enumerate(RUNS)
}
# labels of people for 45 and for 60 of 110 queries, labels of a judge for all of them
ALL_LABELS = draw_qrels(7, 110, (0, 0, 1, 2))
HUMAN_LABELS = {query: ALL_LABELS[query] for query in query_ids(90)[::2]}
MORE_LABELS = {query: ALL_LABELS[query] for query in query_ids(60)}
JUDGE_LABELS = blur_grades(8, ALL_LABELS)
OTHER_JUDGE = blur_grades(9, ALL_LABELS)
JUDGED_RUNS = {
    "weak": draw_run(14, ALL_LABELS, 4, 0.2, tied_share=0.25),
    "fair": draw_run(15, ALL_LABELS, 4, 0.8, tied_share=0.25),
    "good": draw_run(16, ALL_LABELS, 5, 1.6, tied_share=0.25),
}
WEIGHTS = {query: 1.0 + number % 5 for number, query in enumerate(QRELS)}
LABEL_WEIGHTS = {query: 1.0 + number % 4 for number, query in enumerate(ALL_LABELS)}
QUERIES = [
    {
        "query_id": query,
        "device": ("phone", "desk", "watch")[number % 3],
        "market": ("east", "west")[number % 2],
        "traffic": WEIGHTS[query],
        "session": f"s{number // 3}",
    }
    for number, query in enumerate(QRELS)
]
LANGUAGES = [
    {"query_id": query, "language": ("de", "en")[number % 2], "pair_id": f"p{number // 2}"}
    for number, query in enumerate(QRELS)
]
LABELLED_QUERIES = [
    {
        "query_id": query,
        "device": ("phone", "desk")[number % 2],
        "traffic": LABEL_WEIGHTS[query],
    }
    for number, query in enumerate(ALL_LABELS)
]
SESSIONS = {row["query_id"]: row["session"] for row in QUERIES}


# judgments of harm, of shares, and of questions without an answer
NEGATIVE = "query_id,doc_id,relevance\nq01,d1,1\nq01,d2,-1\nq02,d2,1\nq02,d3,-2\n"
SHARES = "query_id,doc_id,relevance\nq01,d1,1\nq01,d2,0.5\nq02,d2,0.5\nq02,d3,1\n"
UNANSWERABLE = "query_id,doc_id,answerable\nq01,d1,true\nq02,d2,true\nq03,,false\n"
DOCUMENTS = [{"doc_id": f"d{number}", "text": f"word{number} of all"} for number in range(12)]
TRAINING = [{"query_id": f"u{number:02d}", "doc_id": f"d{number * number % 9}"} for number in range(40)]
CASES = [
    {
        "id": f"k{number:02d}",
        "text": f"word{number % 12} all",
        "expected_ids": f"d{number % 12}",
        "language": ("de", "en")[number % 2],
        "difficulty": ("easy", "hard")[number % 3 == 0],
    }
    for number in range(16)
]
BAD_CASES = "id,text,expected_ids\nk1,,d1\nk2,of all,d2|d2\nk2,of all,d1\n"
MODELS = ("small", "medium", "large", "other")
TASKS = [f"task{number}" for number in range(1, 8)]


def draw_results() -> list[dict[str, Any]]:
    """Draw the value of each model on each task; the last model lacks the last task."""
    draw = Draw(50)
    rows = []
    for task in TASKS:
        for place, model in enumerate(MODELS):
            value = round(0.3 + place / 20 + draw.number() / 4, 3)
            rows.append({"task": task, "model": model, "value": value})
    return rows[:-1]


def draw_results_by_query() -> list[dict[str, Any]]:
    """Draw the values of ten queries of each task."""
    draw = Draw(51)
    rows = []
    for result in draw_results():
        for number in range(10):
            value = round(result["value"] + (draw.number() - 0.5) / 3, 3)
            rows.append({"task": result["task"], "model": result["model"], "query_id": f"q{number}", "value": value})
    return rows


def draw_columns() -> list[dict[str, Any]]:
    """Draw a table with two columns of scores."""
    draw = Draw(52)
    rows = []
    for query in list(QRELS)[:12]:
        for number in range(8):
            scores = {"text": draw.below(4), "image": round(draw.number(), 2)}
            rows.append({"query_id": query, "doc_id": f"d{number}", **scores})
    return rows


def draw_passages() -> list[dict[str, Any]]:
    """Draw judged passages of each query."""
    draw = Draw(53)
    rows = []
    for query in query_ids(10):
        for number in range(1 + draw.below(3)):
            start = 10 * draw.below(8)
            rows.append({"query_id": query, "doc_id": f"d{number}", "start": start, "end": start + 10 + draw.below(20)})
    return rows


def draw_chunks(seed: int, size: int) -> list[dict[str, Any]]:
    """Draw chunks of a size, with scores that tie."""
    draw = Draw(seed)
    rows = []
    for query in query_ids(10):
        for place in draw.some_of(range(3 * (120 // size)), 9):
            start = size * (place // 3)
            doc = f"d{place % 3}"
            rows.append({"query_id": query, "doc_id": doc, "start": start, "end": start + size, "score": draw.below(4)})
    return rows


def draw_subtopics() -> str:
    """Draw TREC judgments by subtopic."""
    draw = Draw(56)
    lines = []
    for query in query_ids(8):
        for number in range(8):
            for topic in draw.some_of("123", draw.below(4)):
                lines.append(f"{query} {topic} d{number} {draw.one_of((0, 1, 1, 2))}\n")
        lines.append(f"{query} 1 d20 1\n")
    return "".join(lines)


PASSAGES = draw_passages()
CHUNKS = {"fine": draw_chunks(54, 20), "coarse": draw_chunks(55, 30)}


@cache
def folder_of_files() -> Path:
    """Write the files that commands read into a folder of this process, and return it."""
    folder = Path(tempfile.mkdtemp(prefix="golden-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_files(folder)
    return folder


def write_files(folder: Path) -> None:
    """Write the data above as files, and some more."""
    write_qrels(folder / "graded.txt", GRADED)
    write_run(folder / "graded.run", GRADED_RUN)
    write_qrels(folder / "qrels.txt", QRELS)
    write_qrels(folder / "human.txt", HUMAN_LABELS)
    write_qrels(folder / "judge.txt", JUDGE_LABELS)
    write_qrels(folder / "other-judge.txt", OTHER_JUDGE)
    write_qrels(folder / "changed.txt", CHANGED)
    for name, run in JUDGED_RUNS.items():
        write_run(folder / f"labelled-{name}.run", run)
    write_rows(folder / "labelled-queries.csv", LABELLED_QUERIES)
    for name, run in RUNS.items():
        write_run(folder / f"{name}.run", run)
    for name, runs in REPEATS.items():
        for number, run in enumerate(runs, 1):
            write_run(folder / f"{name}-{number}.run", run)
    write_rows(folder / "queries.csv", QUERIES)
    write_rows(folder / "languages.csv", LANGUAGES)
    for name, text in {"negative": NEGATIVE, "shares": SHARES, "unanswerable": UNANSWERABLE, "bad": BAD_CASES}.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    write_rows(folder / "documents.csv", DOCUMENTS)
    write_rows(folder / "training.csv", TRAINING)
    write_rows(folder / "cases.csv", CASES)
    write_rows(folder / "results.csv", draw_results())
    write_rows(folder / "results-by-query.csv", draw_results_by_query())
    write_rows(folder / "groups.csv", [{"task": task, "group": f"g{task[-1] > '3'}"} for task in TASKS])
    write_rows(folder / "task-weights.csv", [{"task": task, "weight": int(task[-1])} for task in TASKS])
    write_rows(folder / "columns.csv", draw_columns())
    write_rows(folder / "spans.csv", PASSAGES)
    for name, chunks in CHUNKS.items():
        write_rows(folder / f"{name}.csv", chunks)
    (folder / "subtopics.txt").write_text(draw_subtopics(), encoding="utf-8")
    for task in ("east", "west"):
        (folder / "tasks" / task).mkdir(parents=True)
        few = {query: QRELS[query] for query, row in zip(QRELS, QUERIES, strict=True) if row["market"] == task}
        write_qrels(folder / "tasks" / task / "qrels.txt", few)
        for name, run in RUNS.items():
            write_run(folder / "tasks" / task / f"{name}.run", run)
    write_saved(folder)


def write_saved(folder: Path) -> None:
    """Save evaluations, of which some are earlier, weighted, or of other judgments."""
    saved = {
        "old": dh.evaluate(folder / "qrels.txt", folder / "weak.run", ["RR", "nDCG@3"]),
        "new": dh.evaluate(folder / "qrels.txt", folder / "fair.run", ["RR", "nDCG@3"]),
        "rejudged": dh.evaluate(folder / "changed.txt", folder / "fair.run", ["RR", "nDCG@3"]),
        "heavy": dh.evaluate(folder / "qrels.txt", folder / "weak.run", ["RR", "nDCG@3"], weights=WEIGHTS),
        "heavier": dh.evaluate(folder / "qrels.txt", folder / "good.run", ["RR", "nDCG@3"], weights=WEIGHTS),
    }
    for name, evaluation in saved.items():
        evaluation.save(folder / f"{name}.json", label=name, commit="abcdef0")
    for name, policy in (("o1", "expected"), ("o2", "worst")):
        (folder / name).mkdir()
        for run in RUNS:
            evaluation = dh.evaluate(folder / "qrels.txt", folder / f"{run}.run", "RR", ties=policy)
            evaluation.save(folder / name / f"{run}.json")


def write_qrels(path: Path, qrels: Grades) -> None:
    """Write TREC qrels."""
    lines = [f"{query} 0 {doc} {grade:g}\n" for query, judged in qrels.items() for doc, grade in judged.items()]
    path.write_text("".join(lines), encoding="utf-8")


def write_run(path: Path, run: Scores) -> None:
    """Write a TREC run."""
    lines = [f"{query} Q0 {doc} 1 {score!r} t\n" for query, docs in run.items() for doc, score in docs.items()]
    path.write_text("".join(lines), encoding="utf-8")


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write a CSV table."""
    lines = [",".join(rows[0])]
    lines += [",".join(str(value) for value in row.values()) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
