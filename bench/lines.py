"""The lines of "Speed" in the design: what is run for each, and what it has to reach."""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.data import DEPTH
from bench.many_queries import queries
from bench.process import interleave, peak, ratio, run, task, walls, warm
from bench.spark_lines import spark
from bench.tasks import FIVE, FORTY, THREE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.data import Data
    from bench.process import Sample

GB, MB = 1e9, 1e6


@dataclass(frozen=True)
class Setting:
    """What the measurements share.

    Attributes
    ----------
    data : Data
    repeats : int
        Counted runs of each command.
    has_large : bool
        Whether 70 million rows are asked for.
    """

    data: Data
    repeats: int
    has_large: bool = False

    def path(self, name: str) -> str:
        """Return the path of a data file."""
        return self.data.path(name)


@dataclass(frozen=True)
class Row:
    """One measured line.

    Attributes
    ----------
    line, target, measured, detail, memory : str
    passed : bool or None
        None where the design sets no target.
    """

    line: str
    target: str
    measured: str
    passed: bool | None
    detail: str = ""
    memory: str = ""


def at_least(line: str, target: float, value: float, **more: str) -> Row:
    """Return the row of a ratio that should be large."""
    return Row(line, f"≥ {target:g}x", f"{value:.1f}x", value >= target, **more)


def at_most(line: str, target: float, value: float, unit: str, **more: str) -> Row:
    """Return the row of a value that should be small."""
    shown = f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    return Row(line, f"≤ {target:g}{unit}", f"{shown}{unit}", value <= target, **more)


def took(**samples: list[Sample]) -> str:
    """Return the median seconds of each tool, and of its processor time where threads make it differ."""
    return ", ".join(
        f"{name} {statistics.median(walls(runs)):.2f} s (CPU {statistics.median(s.cpu for s in runs):.2f} s)"
        for name, runs in samples.items()
    )


def evaluation(qrels: str, path: str, *more: str) -> list[str]:
    """Return the command of the package with the five measures."""
    measures = [part for name in FIVE for part in ("-m", name)]
    return [sys.executable, "-m", "deadheat", "evaluate", qrels, path, *measures, "--format", "csv", *more]


def memory(**samples: list[Sample]) -> str:
    """Return the peak resident set of each tool."""
    return ", ".join(f"{name} {peak(runs) / GB:.2f} GB" for name, runs in samples.items())


def same_means(ours: Sample, theirs: Sample) -> str:
    """Say by how much the means of two tools differ."""
    largest = max(abs(ours.output[name] - value) for name, value in theirs.output.items())
    return f"means differ by at most {largest:.0e}"


def trec(setting: Setting) -> Iterator[Row]:
    """TREC files, five measures, the whole process: the command, beside what others take in Python."""
    targets: dict[str, dict[str, float | None]] = {
        "sparse": {"pytrec_eval": 7.0, "ir_measures": 11.0, "ranx": None},
        "graded": {"pytrec_eval": 6.0},
    }
    for kind, peers in targets.items():
        files = setting.path(f"{kind}.qrels"), setting.path("run.trec")
        warm(*files)
        command, means = evaluation(*files), run(task("tasks", "deadheat", *files))
        for peer, target in peers.items():
            # Two tools at a time: after one that has freed a lot of memory, the system is slower to give some.
            ours, theirs = interleave(
                {"deadheat": command, peer: task("tasks", peer, *files)}, setting.repeats
            ).values()
            value = ratio(walls(theirs), walls(ours))
            line = f"TREC file, {kind} qrels, `deadheat evaluate`: faster than {peer}"
            more = {"detail": took(**{"deadheat": ours, peer: theirs}) + "; " + same_means(means, theirs[0])}
            more["memory"] = memory(**{"deadheat": ours, peer: theirs})
            if target is None:
                yield Row(line, "-", f"{value:.1f}x", None, **more)
            else:
                yield at_least(line, target, value, **more)
        ours, reading = interleave(
            {"deadheat": command, "reading": task("tasks", "reading", files[1])}, setting.repeats
        ).values()
        yield at_most(f"TREC file, {kind} qrels: peak memory", 0.8, peak(ours) / GB, " GB")
        line = f"TREC file, {kind} qrels: time of Polars alone, its import and three columns"
        more = {"detail": took(deadheat=ours, Polars=reading)}
        yield at_most(line, 1.6, ratio(walls(ours), walls(reading)), "x", **more)


def blocks(setting: Setting) -> Iterator[Row]:
    """The same file in blocks, whose rows are never held."""
    files = setting.path("sparse.qrels"), setting.path("run.trec")
    commands = {"held": evaluation(*files), "blocks": evaluation(*files, "--max-memory", "100000000")}
    held, found = interleave(commands, min(setting.repeats, 3)).values()
    line = "TREC file, --max-memory 100000000: peak memory, judgments and program included"
    yield at_most(line, 0.3, peak(found) / GB, " GB", detail=took(blocks=found, held=held))


def threads(setting: Setting) -> Iterator[Row]:
    """The same work with one thread and with two; the values are the same bits."""
    for name in ("run.trec", "run.parquet"):
        files = setting.path("sparse.qrels"), setting.path(name)
        work = task("tasks", "deadheat", *files)
        commands = {str(n): ["env", f"POLARS_MAX_THREADS={n}", *work] for n in (1, 2)}
        one, two = interleave(commands, setting.repeats).values()
        bits = [{key: value for key, value in some[0].output.items() if key != "seconds"} for some in (one, two)]
        assert bits[0] == bits[1], "another number of threads gives other values"
        value = ratio(walls(one), walls(two))
        detail = took(**{"one thread": one, "two threads": two}) + "; the same bits"
        yield Row(f"two threads instead of one, {name}: faster", "-", f"{value:.2f}x", None, detail)


def csv(setting: Setting) -> Iterator[Row]:
    """CSV files with a column that is not needed: read, and proved row by row, beside readers that prove nothing."""
    for kind in ("plain", "quoted"):
        path = setting.path(f"{kind}.csv")
        warm(path)
        tools = ("deadheat", "Polars", "pandas")
        n_rows = setting.data.size.run * DEPTH
        commands = {tool: task("tasks", "rows_of_csv", tool, path, n_rows) for tool in tools}
        samples = interleave(commands, setting.repeats)
        ours = samples["deadheat"]
        for peer in ("Polars", "pandas"):
            theirs = samples[peer]
            both = {"deadheat": ours, peer: theirs}
            value = ratio(walls(ours), walls(theirs))
            line = f"CSV file, {kind} ids, {n_rows / 1e6:g} million rows: read_run against {peer} alone"
            detail = took(**both) + "; " + same_means(ours[0], theirs[0])
            yield Row(line, "-", f"{value:.3g}x", None, detail, memory(**both))


def dicts(setting: Setting) -> Iterator[Row]:
    """The same data as dicts of dicts, in one process."""
    for kind in ("sparse", "graded"):
        sample = run(task("inside", "dicts", setting.path(f"{kind}.qrels"), setting.path("run.trec"), setting.repeats))
        ours, theirs = sample.output["deadheat"], sample.output["pytrec_eval"]
        detail = f"deadheat {statistics.median(ours):.3f} s, pytrec_eval {statistics.median(theirs):.3f} s"
        line = f"dict of dicts, {kind} qrels: faster than pytrec_eval's evaluate()"
        yield at_least(line, 8 if kind == "sparse" else 4, ratio(theirs, ours), detail=detail)
        line = f"dict of dicts, {kind} qrels: time of reading the numbers alone"
        alone, detail = _beside_numbers(sample.output["alone"], sample.output["numbers alone"])
        yield at_most(line, 1.2 if kind == "sparse" else 1.8, alone, "x", detail=detail)
        after, detail = _beside_numbers(ours, sample.output["numbers"])
        yield Row(f"{line}, in memory that pytrec_eval has left behind", "-", f"{after:.3g}x", None, detail)


def _beside_numbers(ours: list[float], numbers: list[float]) -> tuple[float, str]:
    """Return how many times the reading of the numbers an evaluation takes, and both in words."""
    return ratio(ours, numbers), f"deadheat {statistics.median(ours):.3f} s, numbers {statistics.median(numbers):.3f} s"


def forty(setting: Setting) -> Iterator[Row]:
    """Forty measures against five."""
    for kind in ("sparse", "graded"):
        files = setting.path(f"{kind}.qrels"), setting.path("run.trec")
        commands = {count: task("tasks", "deadheat", *files, "expected", count) for count in ("5", str(len(FORTY)))}
        five, many = interleave(commands, setting.repeats).values()
        line = f"{len(FORTY)} measures instead of 5, {kind} qrels"
        yield at_most(line, 1.5, ratio(walls(many), walls(five)), "x", detail=took(five=five, forty=many))


def policies(setting: Setting) -> Iterator[Row]:
    """The expected value against trec_eval's rule."""
    for kind, name in (("distinct scores", "run.trec"), ("four levels", "tied.trec")):
        files = setting.path("sparse.qrels"), setting.path(name)
        warm(*files)
        commands = {ties: task("tasks", "deadheat", *files, ties) for ties in ("expected", "doc_id")}
        expected, broken = interleave(commands, setting.repeats).values()
        line = f"expected over ties against breaking them, {kind}"
        value = ratio(walls(expected), walls(broken))
        yield at_most(line, 1.05, value, "x", detail=took(expected=expected, doc_id=broken))


def overhead(setting: Setting) -> Iterator[Row]:
    """Exact measures against broken ties, of as many queries as McSherry and Najork (2008) had: RR took 25% more."""
    n_queries = 28_043 if setting.data.size.run > 1_000 else 400
    taken = run(task("inside", "overhead", n_queries, setting.repeats)).output
    for name in THREE:
        exact, broken, untied = (taken[f"{name} {way}"] for way in ("expected", "doc_id", "untied"))
        line = f"{name}, {n_queries:,} queries x 100 documents in memory: exact over ties against"
        for what, others in (("breaking them by document id", broken), ("scores without ties", untied)):
            detail = f"exact {statistics.median(exact):.3f} s, the other {statistics.median(others):.3f} s"
            yield at_most(f"{line} {what}", 1.25, ratio(exact, others), "x", detail=detail)


def fusion(setting: Setting) -> Iterator[Row]:
    """Two runs fused by ranks and by scores, against ranx if it is installed; a weight tuned over 101 values."""
    n_queries = setting.data.size.run
    taken = run(task("inside", "fusion", n_queries, setting.repeats)).output
    line = f"fuse two runs of {n_queries:,} queries x 1,000 by"
    theirs = {}
    if find_spec("ranx"):
        theirs = run(task("inside", "fusion", n_queries, setting.repeats, "peer")).output
    for method in ("rrf", "wsum"):
        own = taken[method]
        detail = f"{statistics.median(own):.2f} s"
        if theirs:
            yield at_least(f"{line} {method}: ranx takes", 3, ratio(theirs[f"ranx {method}"], own), detail=detail)
        else:
            yield Row(f"{line} {method}", "", detail, None)
    limit = 20 * n_queries / 6_980
    yield at_most(f"{line} wsum, a weight tuned over 101 values", limit, statistics.median(taken["tune"]), " s")


def tied(_: Setting) -> Iterator[Row]:
    """One query with 100,000 tied documents."""
    for judged in (1_000, 100_000):
        taken = run(task("inside", "tied_documents", judged)).output
        slowest = sorted(taken, key=taken.__getitem__, reverse=True)[:3]
        detail = ", ".join(f"{name} {taken[name] * 1e3:.2f} ms" for name in slowest)
        line = f"100,000 tied documents, {judged:,} of them judged: slowest of {len(taken)} measures"
        yield at_most(line, 0.1, taken[slowest[0]], " s", detail=detail)
    taken = run(task("inside", "tied_spread")).output
    yield at_most("ERR's tie_std, 1,000 tied documents of grades 0 to 3 at max_rel=10", 1, taken["ERR"], " s")


def rows(setting: Setting) -> Iterator[Row]:
    """Ten times the rows."""
    for kind in ("trec", "parquet"):
        names = f"tenth.{kind}", f"run.{kind}"
        qrels = setting.path("sparse.qrels")
        warm(*map(setting.path, names))
        commands = {name: task("tasks", "deadheat", qrels, setting.path(name)) for name in names}
        yield grown(f"ten times the rows, {kind}", *interleave(commands, setting.repeats).values())


def grown(line: str, less: list[Sample], more: list[Sample]) -> Row:
    """Return the row of a run with ten times the rows, timed from after the import to the means."""
    low, high = ([sample.output["seconds"] for sample in samples] for samples in (less, more))
    detail = f"{statistics.median(low):.3f} s to {statistics.median(high):.3f} s"
    return at_most(line, 11, ratio(high, low), "x", detail=detail)


def large(setting: Setting) -> Iterator[Row]:
    """The Parquet run with ten times the rows again."""
    qrels, path = setting.path("large.qrels"), setting.path("large.parquet")
    small = setting.path("sparse.qrels"), setting.path("run.parquet")
    warm(path)
    commands = {
        "small": task("tasks", "deadheat", *small),
        "checked": task("tasks", "deadheat", qrels, path),
        "unchecked": task("tasks", "deadheat", qrels, path, "expected", 5, "unchecked"),
        "hundred": task("tasks", "deadheat", setting.path("hundred.qrels"), path),
    }
    less, checked, unchecked, hundred = interleave(commands, min(setting.repeats, 3)).values()
    label = f"{setting.data.size.large / 1e3:g} million rows of Parquet"
    for line, target, most, samples in (
        (label, 5, 1, checked),
        (f"{label}, duplicates='trust'", 4, 0.7, unchecked),
    ):
        yield at_most(line, target, statistics.median(walls(samples)), " s", detail=took(deadheat=samples))
        yield at_most(f"{line}: peak memory", most, peak(samples) / GB, " GB")
    line = f"{label}, a hundred judgments a query: peak memory"
    yield at_most(line, 2, peak(hundred) / GB, " GB", detail=took(deadheat=hundred))
    yield grown(f"ten times the rows, {label}", less, checked)


def small(setting: Setting) -> Iterator[Row]:
    """Fifty queries with a hundred documents."""
    taken = run(task("inside", "small", 40 * setting.repeats)).output
    ours, theirs = (1e3 * statistics.median(taken[name]) for name in ("deadheat", "pytrec_eval"))
    loops = [taken[f"{name} in a loop"] for name in ("deadheat", "pytrec_eval")]
    ratio = statistics.median(one / other for one, other in zip(*loops, strict=True))
    first = 1e3 * taken["first deadheat"]
    detail = f"pytrec_eval {theirs:.2f} ms, each after a garbage collection, which empties the processor's caches"
    yield at_most("small evaluation, 50 queries x 100 documents", 10, ours, " ms", detail=detail)
    detail = ", ".join(
        f"{name} {10 * statistics.median(own):.2f} ms"
        for name, own in zip(("deadheat", "pytrec_eval"), loops, strict=True)
    )
    yield at_most("small evaluation, a hundred in a loop: time of pytrec_eval", 1, ratio, "x", detail=detail)
    yield at_most("small evaluation, the first one of a process", 10, first, " ms")


def startup(setting: Setting) -> Iterator[Row]:
    """Start of the interpreter included."""
    script = Path(sys.executable).with_name("deadheat")
    imports = {"import": "import deadheat", "evaluate": "from deadheat import evaluate"}
    commands = {name: [sys.executable, "-c", code] for name, code in imports.items()}
    samples = interleave(commands | {"help": [str(script), "--help"]}, 3 * setting.repeats)
    for name, target, line in (
        ("import", 0.4, imports["import"]),
        ("evaluate", 0.4, imports["evaluate"] + " (loads all that it needs)"),
        ("help", 0.5, "deadheat --help"),
    ):
        value = statistics.median(walls(samples[name]))
        yield at_most(line, target, value, " s", memory=f"{peak(samples[name]) / MB:.0f} MB")
    tools = ("deadheat", "ir_measures", "pytrec_eval")
    firsts = interleave({tool: task("tasks", "first", tool) for tool in tools}, 3 * setting.repeats)
    seconds = {tool: statistics.median(sample.cpu for sample in firsts[tool]) for tool in tools}
    line = "the first evaluation of a process, 50 queries x 100 documents in dicts: processor time"
    detail = ", ".join(f"{tool} {seconds[tool]:.2f} s" for tool in tools)
    yield at_most(line, 0.2, seconds["deadheat"], " s", detail=detail, memory=memory(**firsts))


WITHOUT = {
    "reading ahead": "own._read_ahead = lambda words: None",
    "the fast exit": "own._end = sys.exit",
    "a process that draws": "from deadheat.plugins.figures.painter import painter; painter.start = lambda: None",
}


def saved(setting: Setting) -> Iterator[Row]:
    """What three tricks at the start and the end of a command save: below 3 % one has to go."""
    names = ("many.qrels", "many-000.trec", "many-001.trec")
    with TemporaryDirectory() as folder:
        report = ["report", *map(setting.path, names), "-o", str(Path(folder, "r.html"))]
        evaluate = evaluation(setting.path("sparse.qrels"), setting.path("run.trec"))[3:]
        for what, change in WITHOUT.items():
            arguments, line = (report, "report") if "draws" in what else (evaluate, "evaluate")
            code = "import sys, deadheat.__main__ as own; {}; own.start()"
            commands = {
                name: [sys.executable, "-c", code.format(one), *arguments]
                for name, one in {"with it": "pass", "without": change}.items()
            }
            samples = interleave(commands, setting.repeats)
            value = ratio(walls(samples["without"]), walls(samples["with it"]))
            detail = took(**samples)
            yield Row(
                f"`deadheat {line}`, {what}: faster than without", "≥ 1.03x", f"{value:.2f}x", value >= 1.03, detail
            )


def averaging(setting: Setting) -> Iterator[Row]:
    """Two tools that average over ties themselves; the design sets no target."""
    for work, peer, line in (
        ("tie_aware", "tie-aware-retrieval-metrics", "mean, min and max of 15 binary measures over ties"),
        ("dense", "scikit-learn", "nDCG@10 averaged over ties"),
    ):
        taken = run(task("inside", work, 500, setting.repeats)).output
        detail = ", ".join(f"{name} {statistics.median(taken[name]):.3f} s" for name in ("deadheat", peer))
        value = ratio(taken[peer], taken["deadheat"])
        yield Row(f"{line}, 500 x 1,000: faster than {peer}", "-", f"{value:.1f}x", None, detail)


def matrix(setting: Setting) -> Iterator[Row]:
    """Matrices of scores, beside one sum over them, a full sort and torchmetrics."""
    n_queries, n_items = (1_000, 1_000_000) if setting.data.size.run > 1_000 else (80, 100_000)
    sample = run(task("inside", "matrix", n_queries, n_items, setting.repeats))
    taken, line = sample.output, f"matrices of {n_queries:,} x {n_items:,} float32 scores, 8 rows at a time"
    for n, target in ((1, 3), (3, 5), (10, 12)):
        ours = taken[f"{n} relevant"]
        detail = f"deadheat {statistics.median(ours):.2f} s, one sum over them {statistics.median(taken['sum']):.2f} s"
        value = ratio(ours, taken["sum"])
        label = f"{line}, {n} relevant a query, checked for NaN: time of one sum over the scores"
        yield at_most(label, target, value, "x", detail=detail, memory=memory(process=[sample]))
    for peer in ("np.sort", "np.argsort", "torchmetrics"):
        label = f"one matrix of 8 x {n_items:,}, RR: faster than {peer}"
        if peer not in taken:
            yield Row(label, "≥ 5x", "not here", None, "it needs torch and torchmetrics: pip install torchmetrics")
            continue
        seconds = {name: statistics.median(taken[name]) for name in ("one batch", peer)}
        detail = f"deadheat {seconds['one batch']:.4f} s, {peer} {seconds[peer]:.4f} s"
        yield at_least(label, 5, ratio(taken[peer], taken["one batch"]), detail=detail)


def resampling(setting: Setting) -> Iterator[Row]:
    """Intervals and tests of twenty measures of two systems."""
    n_queries = setting.data.size.run
    ours = run(task("inside", "resampling", "deadheat", n_queries, setting.repeats))
    theirs = run(task("inside", "resampling", "scipy", n_queries, 1))
    line = f"10,000 resamples x {n_queries:,} queries x 20 measures x 2 systems"
    with_tests, intervals = (statistics.median(ours.output[name]) for name in ("with tests", "intervals"))
    label = f"{line}: BCa intervals and 20 randomization tests"
    yield at_most(label, 3, with_tests, " s", detail=f"the intervals alone {intervals:.2f} s")
    yield at_most(f"{line}: peak memory", 1, ours.peak / GB, " GB")
    (peer,) = theirs.output["intervals"]
    detail = f"deadheat {intervals:.2f} s, SciPy {peer:.1f} s (one run)"
    label = f"{line}: BCa intervals faster than scipy.stats.bootstrap, column by column"
    yield at_least(label, 10, peer / intervals, detail=detail, memory=memory(deadheat=[ours], SciPy=[theirs]))


def many(setting: Setting) -> Iterator[Row]:
    """The runs of a track: all of them, and a fifth, by the command and in Python."""
    for n_runs, target in ((setting.data.size.many, 1.3), (setting.data.size.many // 5, 0.6)):
        files = setting.path("many.qrels"), *(setting.path(f"many-{n:03}.trec") for n in range(n_runs))
        warm(*files)
        commands = {
            "command": evaluation(*files),
            "python": task("tasks", "deadheat_many", *files),
            "pytrec_eval": task("tasks", "pytrec_eval", *files),
        }
        samples = interleave(commands, setting.repeats)
        line = f"{n_runs} TREC runs of 50 queries x {DEPTH:,} documents"
        more = {"detail": took(**samples), "memory": memory(**samples)}
        for way, label in (("command", "`deadheat evaluate`"), ("python", "dh.evaluate")):
            yield at_most(f"{line}, {label}", target, statistics.median(walls(samples[way])), " s", **more)
    for n_docs in (40, DEPTH):
        taken = run(task("inside", "track", n_docs, setting.repeats)).output
        line = f"21 TREC runs of 25 queries x {n_docs:,} documents"
        ways = {
            "after the import": "dh.evaluate after its import",
            "command": "`deadheat evaluate` (ir_measures' command: one for each run)",
        }
        for kind, way in ways.items():
            ours, theirs = taken[f"deadheat, {kind}"], taken[f"ir_measures, {kind}"]
            detail = f"deadheat {statistics.median(ours):.3f} s, ir_measures {statistics.median(theirs):.3f} s"
            yield at_most(f"{line}, {way}: time of ir_measures", 1, ratio(ours, theirs), "x", detail=detail)


def pairs(setting: Setting) -> Iterator[Row]:
    """Comparisons of many systems, all pairs with exact ties and randomisation tests; the large ones once."""
    sizes = [
        *((21, 25, 2, n_docs, 1.5, 0.4) for n_docs in (40, DEPTH)),
        *((200, 50, 4, 40, 4.0, 1.0), (1_000, 50, 4, 40, 60.0, 1.0)),
    ]
    for n_systems, n_queries, n_measures, n_docs, target, most in sizes[: None if setting.data.size.run > 1_000 else 1]:
        work = task("tasks", "compare_many", n_systems, n_queries, n_measures, n_docs)
        samples = interleave({"deadheat": work}, setting.repeats if n_systems < 100 else 1)["deadheat"]
        seconds = statistics.median(sample.output["seconds"] for sample in samples)
        line = f"compare of {n_systems:,} systems x {n_queries} queries x {n_measures} measures, {n_docs:,} documents"
        yield at_most(line, target, seconds, " s", detail=took(deadheat=samples))
        yield at_most(f"{line}: peak memory", most, peak(samples) / GB, " GB")


def ontology(_: Setting) -> Iterator[Row]:
    """Judgments from an ontology, on data that lies beside the repository in some checkouts."""
    folder = Path(__file__).parents[2] / "shared" / "data" / "hpo"
    if not folder.is_dir():
        yield Row("Human Phenotype Ontology", "-", "not here", None, "its data lies beside the repository")
        return
    taken = run(task("inside", "ontology", folder)).output
    slowest, longest = max(taken["similarities"].items(), key=lambda item: item[1])
    line = "similarity of one term to all 19,034 of the Human Phenotype Ontology"
    yield at_most(line, 1, longest * 1e3, " ms", detail=f"the slowest of {len(taken['similarities'])}: {slowest}")
    yield at_most("judging a run of 1,119 queries by an ontology, and MaxRel@10", 2, taken["MaxRel@10"], " s")


def peers(setting: Setting) -> Iterator[Row]:
    """The other tools alone, to see that they run."""
    files = setting.path("sparse.qrels"), setting.path("run.trec")
    commands = {peer: task("tasks", peer, *files) for peer in ("pytrec_eval", "ir_measures", "ranx")}
    for peer, samples in interleave(commands, setting.repeats).items():
        yield Row(f"{peer}, TREC file", "-", took(**{peer: samples}), None, memory=memory(**{peer: samples}))
    for work, arguments in (
        ("dicts", (*files, setting.repeats)),
        ("small", (40,)),
        ("tie_aware", (50, 3)),
        ("dense", (50, 3)),
    ):
        for peer, seconds in run(task("inside", work, *arguments, "peer only")).output.items():
            if isinstance(seconds, list):
                yield Row(f"{peer}, {work}", "-", f"{1e3 * statistics.median(seconds):.2f} ms", None)


LINES: dict[str, Callable[[Setting], Iterator[Row]]] = {
    "trec": trec,
    "blocks": blocks,
    "threads": threads,
    "csv": csv,
    "dicts": dicts,
    "forty": forty,
    "policies": policies,
    "overhead": overhead,
    "fusion": fusion,
    "tied": tied,
    "rows": rows,
    "small": small,
    "startup": startup,
    "saved": saved,
    "averaging": averaging,
    "matrix": matrix,
    "resampling": resampling,
    "many": many,
    "pairs": pairs,
    "queries": queries,
    "ontology": ontology,
}
ON_REQUEST: dict[str, Callable[[Setting], Iterator[Row]]] = {"large": large, "peers": peers, "spark": spark}
