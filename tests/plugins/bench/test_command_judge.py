"""A language model as a reranker, by the command line: interrupted, refused, resumed, and a page at the end."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from math import log2
from pathlib import Path
from statistics import fmean

import pytest

import deadheat as dh
from support.chat_server import ChatServer, chat_server, grade
from support.process import command, environment

N_PHRASES, DEPTH, INTERRUPTED_AT = 30, 20, (150, 380)
DEMO = Path(dh.__file__).parent / "core" / "demo"
# a job in the background starts with the signal ignored
INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"


def read(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((DEMO / name).read_text(encoding="utf-8"))))


def write_data(folder: Path) -> tuple[list[dict[str, str]], dict[str, dict[str, float]]]:
    """Write and return 30 phrases, and a run with 20 documents for each."""
    documents = read("documents.csv")
    phrases = [{name: one[name] for name in ("case_id", "text", "expected_ids")} for one in read("phrases.csv")]
    phrases += [
        {"case_id": one["doc_id"], "text": one["synonyms"].split("|")[0], "expected_ids": one["doc_id"]}
        for one in documents[::5]
    ]
    names = [one["doc_id"] for one in documents]
    run: dict[str, dict[str, float]] = {}
    for n, one in enumerate(phrases):
        relevant = one["expected_ids"].split("|")
        others = [doc for doc in names[n:] + names if doc not in relevant]
        ranking = [*others[:7], *relevant, *others[7:DEPTH]][:DEPTH]
        run[one["case_id"]] = {doc: float(DEPTH - rank) for rank, doc in enumerate(ranking)}
    with (folder / "phrases.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(phrases[0]))
        writer.writeheader()
        writer.writerows(phrases)
    lines = [f"{case} Q0 {doc} 0 {score} first\n" for case, docs in run.items() for doc, score in docs.items()]
    (folder / "first.run").write_text("".join(lines))
    assert (len(run), len(lines)) == (N_PHRASES, N_PHRASES * DEPTH)
    return phrases, run


class Judging:
    """The same command again and again."""

    def __init__(self, folder: Path, server: ChatServer) -> None:
        self.folder, self.server = folder, server
        self.arguments = ["bench", "phrases.csv", "--collection", f"{DEMO / 'documents.csv'}", "--yes", "-m", "RR"]
        self.arguments += ["-m", "nDCG@10", "--retriever", "first.run", "--reranker", "llm", "--endpoint", server.url]
        self.arguments += ["--model", "judge", "--rerank-depth", f"{DEPTH}", "--output", "results", "--format", "html"]

    def start(self, key: str) -> subprocess.Popen[str]:
        program, flag, code, *arguments = command(*self.arguments)
        own = environment(DEADHEAT_CACHE=f"{self.folder / 'cache'}", OPENAI_API_KEY=key)
        return subprocess.Popen(
            [program, flag, f"{INTERRUPTIBLE} {code}", *arguments],
            cwd=self.folder,
            env=own,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def interrupted(self, n: int) -> str:
        """Press ^C when the server has answered n calls; return what is said."""
        with self.start("right") as process:
            while self.server.asked.total() < n and process.poll() is None:
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            out, said = process.communicate()
        assert (process.returncode, out) == (130, "")
        return said

    def done(self, key: str) -> tuple[int, str, str]:
        with self.start(key) as process:
            out, said = process.communicate()
        return process.returncode, out, said


def by_hand(phrases: list[dict[str, str]], run: dict[str, dict[str, float]]) -> dict[str, float]:
    """Grade as the server does, and average over the orders of equal grades."""
    texts = {one["doc_id"]: "; ".join([one["text"], *one["synonyms"].split("|")]) for one in read("documents.csv")}
    sums = {"RR": 0.0, "nDCG@10": 0.0}
    for phrase in phrases:
        relevant = phrase["expected_ids"].split("|")
        grades = {doc: grade(phrase["text"], texts[doc]) for doc in run[phrase["case_id"]]}
        rr = dcg = 0.0
        above = 0
        for level in sorted(set(grades.values()), reverse=True):
            tied = [doc for doc, own in grades.items() if own == level]
            n_relevant = len({*tied} & {*relevant})
            ranks = range(above + 1, above + len(tied) + 1)
            if n_relevant and not rr:  # each choice of places is as likely as the others
                rr = fmean(1 / min(places) for places in combinations(ranks, n_relevant))
            dcg += n_relevant / len(tied) * sum(1 / log2(rank + 1) for rank in ranks if rank <= 10)
            above += len(tied)
        sums["RR"] += rr
        sums["nDCG@10"] += dcg / sum(1 / log2(rank + 1) for rank in range(1, len(relevant) + 1))
    return {name: total / len(phrases) for name, total in sums.items()}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_thirty_phrases_with_twenty_documents_each(tmp_path: Path) -> None:
    (phrases, run), n_pairs = write_data(tmp_path), N_PHRASES * DEPTH
    with chat_server() as server:
        server.key, server.delay = "right", 0.01
        judging = Judging(tmp_path, server)
        kept = tmp_path / "cache" / "grades"
        for n in INTERRUPTED_AT:
            assert judging.interrupted(n).endswith("Interrupted\n")
            (file,) = kept.iterdir()
            assert n <= len(file.read_text().split()) // 2 == server.asked.total() < n_pairs
            assert not (tmp_path / "results" / "report.md").exists()
        before = server.asked.total()
        code, page, said = judging.done("wrong")
        assert (code, page) == (3, "")
        assert "401" in said
        assert "the environment variable OPENAI_API_KEY holds another key" in said
        assert server.asked.total() == before
        n_refused = len(server.bodies) - before
        assert 1 <= n_refused <= 16  # of eight threads, some have taken their next one
        code, page, said = judging.done("right")
        assert code == 0, said
        assert server.asked == Counter(dict.fromkeys(server.asked, 1))  # nothing was asked twice
        assert len(server.asked) == n_pairs
        assert len(server.bodies) == n_pairs + n_refused
        # the page says what the grades give
        summary = json.loads((tmp_path / "results" / "bench.json").read_text())
        assert {one["retriever"] for one in summary["results"]} == {"first", "first + judge"}
        judged = {one["measure"]: one["mean"] for one in summary["results"] if one["retriever"] == "first + judge"}
        assert judged == pytest.approx(by_hand(phrases, run))
        assert all(f"{mean:.4f}" in page for mean in judged.values())
        assert page.startswith("<!doctype html>")
        assert "first + judge" in page
        again = judging.done("")  # neither a key nor a call is needed for what is finished
        assert (again[0], again[1]) == (0, page)
        assert len(server.bodies) == n_pairs + n_refused
