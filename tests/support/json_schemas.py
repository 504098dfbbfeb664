"""The JSON Schemas of what commands print as JSON, found from what they print.

    PYTHONPATH=tests:src python -m support.json_schemas    # renews the folders `schemas` of all plugins

Of each command several calls are made. The keys that all of their documents have are required; an object whose keys are
plain words has these as properties, any other (keys such as names, queries and measures) has values of one kind.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import shlex
import tempfile
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import deadheat
from deadheat.api import Output
from deadheat.core import hooks
from deadheat.core.cli import main
from deadheat.core.cli.printing import FormatChoice
from support.command import command, runner

VERSION = 1  # of the schemas: a key that goes, or has another type, makes the next
WORD = re.compile("[a-z][a-z0-9_]{2,}")  # two letters are a language
BY_COLUMN = re.compile("_by_(device|market)$")  # of several --by, each has keys of its own
TYPES: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
SAMPLES = """
evaluate Q.txt A.run
evaluate Q.txt A.run B.run -m 'nDCG@2 MAP NumRet' --ci --per-query --beside doc_id --quantiles 0.5
evaluate Q.txt A.run B.run --queries queries.csv --by device -m RR --ci --unjudged bounds
evaluate Q.txt A.run B.run --queries queries.csv --by device --by market -m 'RR AP' --weights traffic
evaluate Q.txt A.run --ties random --rng 3 --score-precision 1 --rel 2 --depth 9 --save saved2.json --no-relevant skip
evaluate Q.txt --repeats 'C=*.run' -m RR --judged-only
evaluate few.txt A.run B.run -m 'RR nDCG@5' --judge labels.txt
evaluate Q.txt columns.csv --score-columns all -m 'RR AP'
evaluate Q.txt A.run --collection documents.csv --missing skip --score-precision float32
evaluate unanswerable.csv A.run -m 'RR Abstain'
evaluate shares.csv A.run -m 'R AP' --no-relevant one
evaluate negative.csv A.run -m RR --judged-only
compare negative.csv A.run B.run -m RR --judged-only
compare unanswerable.csv A.run B.run -m 'RR Abstain'
compare shares.csv A.run B.run -m 'R AP'
compare Q.txt A.run B.run
compare Q.txt A.run B.run E.run --baseline A -m 'nDCG@2 MAP NumRet' --margin 0.1 --detect 0.1 --ranks --queries-worst 3
compare Q.txt A.run B.run -m RR --queries queries.csv --by device --by market --weights traffic
compare Q.txt A.run B.run -m RR --queries queries.csv --weights traffic --queries-worst 3
compare Q.txt A.run B.run -m RR --queries languages.csv --test t --margin 0.1
compare Q.txt A.run B.run -m RR --queries queries.csv --cluster market --test bootstrap-t --correction none
compare Q.txt A.run --repeats 'C=*.run' -m RR
compare Q.txt A.run B.run -m RR --judge labels.txt
compare old.json saved.json
compare Q.txt A.run E.run -m RR --unjudged bounds --score-precision 2
compare Q.txt A.run B.run --ties best --no-relevant skip --missing skip --score-precision float16
compare Q.txt A.run B.run --ties random --judged-only --depth 5 --rel 2
compare Q.txt A.run B.run E.run -m RR --baseline A --baseline B
compare Q.txt A.run B.run E.run -m 'nDCG@2 RR P@1' --orders --test t --correction none --confidence-level 0.7
fuse A.run B.run
fuse A.run B.run --qrels Q.txt -m 'RR nDCG@2' --method isr
fuse A.run B.run --qrels Q.txt --tune RR --folds 2
fuse A.run B.run --qrels Q.txt --tune RR --method mapfuse
fuse A.run B.run --qrels Q.txt --tune RR --method wsum --grid 3
agree A.run B.run
agree O1 O2
agree A.run B.run E.run
leaderboard tasks -m RR
gate Q.txt A.run -c 'RR > 0'
gate Q.txt A.run -c 'low(RR) > 0.9' -c 'each(device): nDCG@2 >= 0.1' --queries queries.csv --by market
gate saved.json --baseline old.json --no-worse-than 0.2
gate Q.txt A.run --baseline O1
gate Q.txt A.run --preset rag --allow-unknown
rescore saved.json Q.txt
rescore saved.json labels.txt -m 'RR AP' --save saved3.json
evaluate Q.txt A.run -m P@1 --depth 9 --save cut.json
rescore cut.json Q.txt
rescore saved.json shares.csv -m 'R AP'
diff Q.txt labels.txt
diff Q.txt labels.txt A.run B.run -m 'RR AP' --collection documents.csv
ties A.run
ties A.run Q.txt -m 'RR nDCG@2' --per-query
ties floats.run Q.txt -m RR --at 3
steps Q.txt A.run --query Q1
steps Q.txt A.run --query Q2 -m AP
steps Q.txt A.run --query Q2 -m ERR@3
explain Q.txt A.run --reported RR=0.5
explain Q.txt A.run --reported RR=0.9
history saved.json
history saved.json old.json new.json --reference old.json
history heavy.json heavier.json
leaderboard results.csv
leaderboard results.csv --missing bounds --groups types.csv --weights weights.csv
leaderboard per_query.csv --tasks fixed
holes Q.txt A.run
holes Q.txt A.run B.run E.run -m RR
judges Q.txt labels.txt
judges Q.txt labels.txt third.txt
judges Q.txt labels.txt --per-query
judges Q.txt labels.txt --run A.run --run B.run -m RR
items A.run
items A.run train.csv
simulate --queries 20
simulate --coarsen A.run Q.txt -m RR
simulate --coarsen A.run shares.csv -m RR
simulate --scenarios 3
measures
measures nDCG
measures RR
measures --for rag
measures --for
bench cases.csv --collection documents.csv --retriever bm25
bench cases.csv --collection documents.csv --retriever bm25 --retriever string --by difficulty
bench plain.csv other.csv --collection documents.csv --retriever bm25
validate cases.csv
validate bad.csv
plugins
demo
"""


def prepare(folder: Path) -> None:
    """Write the files of the samples: names of systems, queries and documents are no plain words."""
    draw = random.Random(4)
    queries = [f"Q{n}" for n in range(1, 13)]
    grades = {query: {f"D{n}": draw.choice([0, 0, 1, 2]) for n in range(7)} | {"D7": 1} for query in queries}
    for name, shift in (("Q.txt", 0), ("labels.txt", 1), ("third.txt", 2)):
        rows = (
            (query, doc, (grade + shift * (int(doc[1:]) % 2)) % 3)
            for query, own in grades.items()
            for doc, grade in own.items()
        )
        (folder / name).write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in rows))
    few = (f"{query} 0 D{n} {grades[query][f'D{n}']}\n" for query in queries[:8] for n in range(5))
    (folder / "few.txt").write_text("".join(few))
    (folder / "unanswerable.csv").write_text("query_id,doc_id,answerable\nQ1,D1,true\nQ2,D2,true\nQ3,,false\n")
    (folder / "negative.csv").write_text("query_id,doc_id,relevance\nQ1,D1,1\nQ1,D2,-1\nQ2,D2,1\n")
    (folder / "shares.csv").write_text("query_id,doc_id,relevance\nQ1,D1,1\nQ1,D2,0.5\nQ2,D2,0.5\nQ2,D3,1\n")
    for name in "ABE":
        asked = queries[:-1] if name == "E" else [*queries, "Q99"]
        rows = ((query, f"D{n}", draw.randrange(5)) for query in asked for n in draw.sample(range(9), 8))
        (folder / f"{name}.run").write_text(
            "".join(f"{query} Q0 {doc} 1 {score} {name}\n" for query, doc, score in rows)
        )
    scores = (f"{query},D{n},{draw.randrange(4)},{draw.random():.2f}\n" for query in queries for n in range(6))
    (folder / "columns.csv").write_text("query_id,doc_id,Text,Image\n" + "".join(scores))
    (folder / "train.csv").write_text("query_id,doc_id\n" + "".join(f"U{n},D{n % 7}\n" for n in range(20)))
    parts = [(query, "Phone" if n % 3 else "Desk", f"M{n % 2}", 1 + n) for n, query in enumerate(queries)]
    told = (f"{query},{device},{market},{traffic}\n" for query, device, market, traffic in parts)
    (folder / "queries.csv").write_text("query_id,device,market,traffic\n" + "".join(told))
    pairs = (f"{query},{('de', 'en')[n % 2]},P{n // 2}\n" for n, query in enumerate(queries))
    (folder / "languages.csv").write_text("query_id,language,pair_id\n" + "".join(pairs))
    (folder / "documents.csv").write_text("doc_id,text\n" + "".join(f"D{n},word{n} of all\n" for n in range(7)))
    cases = (f"K{n},word{n % 7} all,D{n % 7},{('de', 'en')[n % 2]},{('easy', 'hard')[n % 3 == 0]}\n" for n in range(14))
    (folder / "cases.csv").write_text("id,text,expected_ids,language,difficulty\n" + "".join(cases))
    for name in ("plain", "other"):
        (folder / f"{name}.csv").write_text("id,text,expected_ids\nK1,word1 all,D1\nK2,of,D2\n")
    floats = (f"{query} Q0 D{n} 1 {draw.random()} F\n" for query in queries for n in range(8))
    (folder / "floats.run").write_text("".join(floats))
    (folder / "bad.csv").write_text("id,text,expected_ids\nK1,,D1\nK2,of all,D2|D2\nK2,of all,D1\n")
    models = [(f"T{n}", model, 0.3 + draw.random() / 2) for n in range(6) for model in ("MA", "MB", "MC")]
    (folder / "results.csv").write_text("task,model,value\n" + "".join(f"{t},{m},{v:.3f}\n" for t, m, v in models[:-1]))
    each = ((*one[:2], f"Q{n}", draw.random()) for one in models for n in range(4))
    (folder / "per_query.csv").write_text(
        "task,model,query_id,value\n" + "".join(f"{t},{m},{q},{v:.3f}\n" for t, m, q, v in each)
    )
    (folder / "types.csv").write_text("task,group\n" + "".join(f"T{n},G{n % 2}\n" for n in range(6)))
    (folder / "weights.csv").write_text("task,weight\n" + "".join(f"T{n},{n + 1}\n" for n in range(6)))
    for name in ("T1", "T2"):
        (folder / "tasks" / name).mkdir(parents=True)
        for file in ("Q.txt", "A.run", "B.run"):
            copy = folder / "tasks" / name / file.replace("Q.txt", "qrels.txt")
            copy.write_text((folder / file).read_text())
    for number, rule in (("O1", "expected"), ("O2", "worst")):
        (folder / number).mkdir()
        for run in "ABE":
            found = deadheat.evaluate(folder / "Q.txt", folder / f"{run}.run", "RR", ties=rule)
            found.save(folder / number / f"{run}.json")
    for name, qrels, run in (("old", "Q.txt", "A.run"), ("saved", "Q.txt", "B.run"), ("new", "labels.txt", "B.run")):
        found = deadheat.evaluate(folder / qrels, folder / run, ["RR", "nDCG@2"])
        found.save(folder / f"{name}.json", label=f"L {name}", commit="abcdef0")
    traffic = {query: 1 + n % 2 / 5 for n, query in enumerate(queries)}
    for name, run in (("heavy", "A.run"), ("heavier", "B.run")):
        found = deadheat.evaluate(folder / "Q.txt", folder / run, ["RR", "nDCG@2"], weights=traffic)
        found.save(folder / f"{name}.json", label=f"L {name}", commit="abcdef0")


@dataclass
class Node:
    """What is known of a value from those that were seen."""

    types: set[str] = field(default_factory=set)
    keys: dict[str, Node] = field(default_factory=dict)
    values: Node | None = None  # of a map
    items: Node | None = None

    def see(self, value: Any, depth: int = 0) -> Node:  # noqa: ANN401 - any JSON
        """Learn from a value; down to `depth` objects are maps."""
        if isinstance(value, dict):
            self.types.add("object")
            if depth > 0 or self.values or not all(map(WORD.fullmatch, value)):
                self.values = self.values or Node()
                for one in value.values():
                    self.values.see(one, depth - 1)
            elif value:
                for key, one in value.items():
                    self.keys.setdefault(key, Node()).see(one)
        elif isinstance(value, list):
            self.types.add("array")
            for one in value:
                self.items = (self.items or Node()).see(one)
        else:
            self.types.add("number" if value in {"inf", "-inf"} else TYPES[type(value)])
        return self

    def merge(self, other: Node) -> None:
        """Learn what another node has learnt."""
        self.types |= other.types
        for key, one in other.keys.items():
            self.keys.setdefault(key, Node()).merge(one)
        for name in ("values", "items"):
            if (one := getattr(other, name)) is not None:
                if getattr(self, name) is None:
                    setattr(self, name, Node())
                getattr(self, name).merge(one)

    def schema(self, name: str = "") -> dict[str, Any]:
        """Return the schema; a number may be whole, and any value null, where there is none."""
        types = set(self.types)
        if types & {"number", "integer"}:
            types = types - {"integer", "number"} | {"integer" if is_count(name, types) else "number"}
        types.add("null")
        if types <= {"null"}:
            return {}
        found: dict[str, Any] = {"type": next(iter(types)) if len(types) == 1 else sorted(types)}
        if "number" in types and "string" not in types:  # JSON has no infinity
            found = {"type": sorted(types | {"string"}), "pattern": "^-?inf$"}
        if self.values is not None:  # perhaps seen as a record before
            for one in self.keys.values():
                self.values.merge(one)
            found["additionalProperties"] = self.values.schema()
        elif self.keys:
            found["properties"] = {key: one.schema(key) for key, one in sorted(self.keys.items())}
        if self.items is not None:
            found["items"] = self.items.schema()
        return found


def is_count(name: str, types: set[str]) -> bool:
    return name.startswith("n_") and "number" not in types


def names() -> list[str]:
    """Return the commands that print JSON."""
    found = []
    for name in hooks.commands_by_name():
        if any(isinstance(option.type, FormatChoice) for option in command(name).params):
            found.append(name)
    return found


def documents(lines: str = SAMPLES) -> list[tuple[str, Any, dict[str, int]]]:
    """Return the command, the JSON and the depths of its tables, of each sample."""
    depths: dict[str, int] = {}
    shown = Output.print

    def watched(self: Output, report: Any) -> None:  # noqa: ANN401 - a report
        for table in report.tables:
            own = table.for_data()
            depths[table.key] = own.is_grouped + len(own.labels)
        shown(self, report)

    found = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        prepare(Path(folder))
        Output.print = watched  # type: ignore[method-assign]
        try:
            for line in lines.strip().splitlines():
                depths.clear()
                result = runner().invoke(main, [*shlex.split(line), "--format", "json"])
                if not result.stdout.startswith(("{", "[")):
                    raise ValueError(f"{line}: {result.output}")
                found.append((line.split()[0], json.loads(result.stdout), dict(depths)))
        finally:
            Output.print = shown  # type: ignore[method-assign]
    return found


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each command."""
    found: dict[str, dict[str, Any]] = {}
    seen = documents()
    for name in dict.fromkeys(name for name, *_ in seen):
        own = [(document, depths) for command_name, document, depths in seen if command_name == name]
        nodes: dict[str, dict[int, Node]] = {}
        for document, depths in own:
            for key, value in document.items():
                if not WORD.fullmatch(key):  # it has a name in it
                    continue
                depth = depths.get(key, 0)
                nodes.setdefault(BY_COLUMN.sub("_by_", key), {}).setdefault(depth, Node()).see(value, depth)
        required = sorted(set.intersection(*(set(document) for document, _ in own)))
        own_schemas = {key: [one.schema(key) for one in some.values()] for key, some in sorted(nodes.items())}
        each = {key: some[0] if len(some) == 1 else {"anyOf": some} for key, some in own_schemas.items()}
        found[name] = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:deadheat:json:{VERSION}:{name}",
            "title": f"deadheat {name} --format json",
            "type": "object",
            "properties": {key: one for key, one in each.items() if not key.endswith("_by_")},
            "required": required,
            "patternProperties": {f"^{key}.": one for key, one in each.items() if key.endswith("_by_")},
        }
        if not found[name]["patternProperties"]:
            del found[name]["patternProperties"]
    return found


def path_of(name: str) -> Path:
    """Return the file with the schema of a command: in the folder of its plugin."""
    plugin = hooks.find_plugin(hooks.find_plugin_of_module(hooks.commands_by_name()[name].module) or "core")
    return Path(str(files(hooks.get_package(plugin)))) / "schemas" / f"{name}.json"


def written(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, schema in schemas().items():
        path_of(name).write_text(written(schema), encoding="utf-8")
