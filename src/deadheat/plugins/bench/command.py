"""Commands of benchmarks: bench, and validate for their labelled cases."""

import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

import deadheat as dh
from deadheat.core.cli.beside_report import with_companion_options, with_companions
from deadheat.core.cli.errors import BAD_DATA, error_message, refuse, refuse_if
from deadheat.core.cli.help import option
from deadheat.core.cli.options import CASES, INTERVALS, LIMITS, TESTS, command, complete_from, with_options
from deadheat.core.cli.parsing import parsed_numbers
from deadheat.core.cli.paths import INPUT, PATH, label, unique_names
from deadheat.core.cli.printing import (
    FormatChoice,
    Output,
    check_folder,
    emit,
    format_option,
    full_option,
    output_option,
    table_option,
)
from deadheat.core.cli.read_options import design_of, measures_of
from deadheat.core.cli.streams import write_note
from deadheat.core.errors import NoteWarning
from deadheat.core.phases import phase

TABLES = ("comparisons", "averages", "across_languages", "language_differences", "language_interactions")
MOST_DRAWN = 2  # measures that figures are drawn of


@command(
    "deadheat bench cases.csv --collection documents.csv --output results",
    "deadheat bench de.json en.json --collection hp.obo.gz --retriever bm25 \\",
    "    --retriever 'bm25(k1=1.2)' --retriever other.run.gz --output results",
    "deadheat bench cases.json --collection hp.obo.gz --ontology hp.obo.gz --limit 20 --by difficulty",
    "deadheat bench cases.json --collection hp.obo.gz --retriever bm25 \\",
    "    --retriever all-MiniLM-L6-v2 --baseline bm25 --cluster expected_ids",
)
@click.argument("cases", type=INPUT, nargs=-1, required=True, metavar="CASES...")
@option(
    "--collection", type=INPUT, required=True, metavar="FILE", help="The documents that are searched.", heading="input"
)
@option(
    "--retriever",
    "retrievers",
    type=INPUT,
    multiple=True,
    metavar="NAME",
    help="bm25, with options as in 'bm25(k1=1.2)'; string, for similar strings; a run file, or a table of results with"
    " ids or texts of the cases; the name or folder of a sentence-transformers model. Several run files, such as one"
    " per language, make one retriever as \"run('de.run', 'en.run', name='mine')\"."
    " May be repeated; default bm25.",
    rank=130,
)
@with_options("ascending", "decimal")
@option(
    "--reranker",
    "rerankers",
    multiple=True,
    metavar="NAME",
    help="Grades the first documents of each retriever: llm (with --endpoint and --model), cross-encoder:MODEL of"
    " sentence-transformers, or module:function, called with query and text. May be repeated.",
)
@option(
    "--rerank-depth", type=click.IntRange(1), default=20, show_default=True, help="Documents that a reranker grades."
)
@option("--rerank-then-by-first", is_flag=True, help="Order what a reranker ties by the retriever's scores.")
@option("--endpoint", metavar="URL", help="Of --reranker llm: any server with OpenAI's protocol, up to /v1.")
@option("--model", metavar="NAME", help="Of --reranker llm.")
@option(
    "--api-key-env",
    metavar="NAME",
    default="OPENAI_API_KEY",
    show_default=True,
    help="The environment variable with the key of --endpoint.",
)
@option("--prompt", type=INPUT, metavar="FILE", help="Of --reranker llm: a text with {query} and {document}.")
@option("--yes", is_flag=True, help="Call the language model without asking first.")
@option(
    "--output",
    type=PATH,
    metavar="DIR",
    help="A folder for runs, evaluations and report. Finished runs found there are reused; evaluations,"
    " bench.json and report.md are those of the last call.",
    heading="output",
    rank=40,
)
@with_options(*CASES)
@option(
    "--synonyms",
    metavar="exact|all|none",
    default="exact",
    show_default=True,
    shell_complete=complete_from("deadheat.plugins.bench.collection:SYNONYMS"),
    help="Which synonyms of the collection are searched.",
)
@option(
    "--collection-texts",
    "texts",
    type=INPUT,
    multiple=True,
    metavar="FILE",
    help="A table with names of the terms in another language, such as hp-fr.babelon.tsv; may be repeated.",
)
@option(
    "--original-texts",
    "original",
    metavar="fallback|also|none",
    default="fallback",
    show_default=True,
    shell_complete=complete_from("deadheat.plugins.bench.ontology:ORIGINAL"),
    help="The collection's own names beside --collection-texts: for terms without a translation, for all, or for none.",
)
@option(
    "--candidates",
    is_flag=True,
    help="Names in --collection-texts that nobody has accepted yet, as those of a machine, count too.",
)
@option(
    "--collection-language",
    metavar="CODE",
    help="The language of the collection; by default a guess. The report names cross-lingual searches.",
)
@with_options("measures")
@option("--at", callback=parsed_numbers, metavar="K,K,...", help="Cutoffs of the default measures; default 1,3,5,10.")
@option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Also report by difficulty, category or domain of the cases; by their combinations if it is repeated.",
    heading="statistics",
    rank=70,
)
@option("--k", type=click.IntRange(1), default=50, show_default=True, help="Documents for each text.")
@option("--ontology", type=INPUT, metavar="FILE", help="Score MaxRel by the similarity of terms in this ontology.")
@option(
    "--similarity",
    metavar="KIND",
    shell_complete=complete_from("deadheat.plugins.bench.ontology:KINDS"),
    help="Similarity of ontology terms; default lin.",
)
@option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Use only the first N cases of each language, for a quick look.",
)
@option(
    "--baseline",
    metavar="NAME",
    help="Compare all others with this retriever; by default every pair.",
    heading="statistics",
    rank=30,
)
@with_options(*TESTS, *INTERVALS)
@option(
    "--cluster",
    metavar="COLUMN",
    help="Resample whole clusters of cases that share this: expected_ids, text, difficulty, category or domain.",
    heading="statistics",
)
@option(
    "--margin",
    type=click.FloatRange(0, min_open=True),
    help="Of parallel sets: also test that languages differ by less than this.",
    heading="statistics",
    rank=150,
)
@with_options("seed")
@with_companion_options("comparison", "systems", "languages", "strata", such_as="scatter")
@option(
    "--format",
    "form",
    type=FormatChoice(("document", "rows")),
    default="table",
    show_default=True,
    help="Format of the output. csv has one table: the means, with --by those of the strata, or that of --table; the"
    " other formats have all.",
    heading="output",
    rank=50,
)
@table_option("the means", *TABLES)
@full_option
@with_options(*LIMITS, "flags")
def bench(cases: tuple[str, ...], collection: str, **options: Any) -> None:  # noqa: ANN401 - click's
    """Run retrievers on labelled cases, and compare them; each set and each language separately.

    Cases are texts with the ids that a search should find (CSV, JSON, JSON Lines; see deadheat validate), the
    collection is a table of id, text and synonyms, or an ontology. Measures: RR, and Hit, nDCG, R, P and AP at 1, 3,
    5 and 10; with --ontology also MaxRel.

    DIR gets one Parquet file per run, the evaluations, bench.json and report.md. After an interruption, the same
    command resumes with the unfinished runs.
    """
    from deadheat.plugins.bench.languages import normalised
    from deadheat.plugins.bench.report import report_bench, subjects_of
    from deadheat.plugins.bench.report_data import data_of_bench
    from deadheat.plugins.bench.report_measures import main_of

    measures, design = measures_of(options) if options["notations"] else None, design_of(options)
    output = Output(
        options | {"output": None},  # which names a folder
        [*cases, collection, *options["texts"], options["ontology"], options["prompt"]],
    )
    check_folder("output", options["output"])
    refuse_if(
        options["similarity"] and not options["ontology"],
        f"--similarity {options['similarity']} compares terms of an ontology: add --ontology FILE",
    )
    language = normalised(options["language"])
    of_cases, of_runs = _columns(options["columns"])
    own = {"id_pattern": options["id_pattern"], "language": language, "columns": of_cases}
    with warnings.catch_warnings(record=True, action="always") as caught:
        sets = []
        for path in cases:
            with phase(f"reading {Path(path).name}"):
                sets.append(dh.read_cases(path, format=options["input_format"], **own))
        for path, one in zip(cases, sets, strict=True):
            if others := [str(name) for name in one.by_language() if language is not None and name != language]:
                write_note(
                    f"Warning: --language {language} applies to cases without a language: those in {', '.join(others)}"
                    f" of {path} keep theirs"
                )
        result = dh.bench(
            sets,
            collection,
            [_retriever(text, of_cases, of_runs, options) for text in options["retrievers"]] or "bm25",
            measures,
            options["k"],
            options["output"],
            at=options["at"],
            by=options["by"],
            ontology=options["ontology"],
            kind=options["similarity"] or "lin",
            synonyms=options["synonyms"],
            texts=options["texts"],
            original=options["original"],
            candidates=options["candidates"],
            collection_language=options["collection_language"],
            limit=options["limit"],
            cluster=options["cluster"],
            margin=options["margin"],
            rerankers=_rerankers(options),
            rerank_depth=options["rerank_depth"],
            rerank_then_by_first=options["rerank_then_by_first"],
            confirm=None if options["yes"] else _confirm,
            progress=write_note,
            **{name: value for name, value in vars(design).items() if name not in INNER},
        )
    if options["output"] is not None:
        write_note(f"saved in {options['output']}")
    for message in dict.fromkeys(f"{one.message}" for one in caught if not issubclass(one.category, NoteWarning)):
        write_note(f"Warning: {message}")  # the report has the notes
    output.is_full = output.is_full or output.form in {"markdown", "html"}
    with phase("making the report"):
        report = data_of_bench(result) if output.is_data else report_bench(result, full=output.is_full)
    output.print(
        with_companions(
            report,
            subjects_of(result) if options.get("figures") else (),
            [one.label for one in main_of(result.measures)[:MOST_DRAWN]],
        )
    )


INNER = ("baselines", "is_default_correction", "is_fixed", "n_strata")  # fields of a design that bench does not take


def _columns(named: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns of cases, and those of run files, which are written as run.doc_id=hit."""
    of_cases: dict[str, str] = {}
    of_runs: dict[str, str] = {}
    for name, column in named.items():
        if name.startswith("run."):
            of_runs[name.removeprefix("run.")] = column
        else:
            of_cases[name] = column
    return of_cases, of_runs


def _retriever(
    text: str, of_cases: Mapping[str, str], of_runs: Mapping[str, str], options: Mapping[str, Any]
) -> dh.Retriever:
    """Return the retriever that is meant; a run file is read as the options say."""
    from deadheat.plugins.bench.retrievers import RunFile, make_retriever

    retriever = make_retriever(text)
    if not isinstance(retriever, RunFile):
        return retriever
    columns = dict(retriever.columns) or dict(of_runs)
    if "text" in of_cases:  # the column of phrases may have the same name in both
        columns.setdefault("text", of_cases["text"])
    ascending = options["ascending"] or retriever.ascending
    return RunFile(*retriever.paths, name=retriever.name, columns=columns, ascending=ascending)


def _rerankers(options: Mapping[str, Any]) -> list[Any]:
    """Return the rerankers; the language model is made of the options that are its own."""
    from deadheat.core.io.files import decode_utf8, read_all
    from deadheat.plugins.bench.retrievers.language_model import PROMPT

    found: list[Any] = list(options["rerankers"])
    if "llm" not in found:
        refuse(("endpoint", "model", "prompt"), "needs --reranker llm")
        return found
    if lacking := [name for name in ("endpoint", "model") if not options[name]]:
        raise click.UsageError(f"--reranker llm needs --{lacking[0]}")
    path = options["prompt"]
    prompt = PROMPT if path is None else decode_utf8(read_all(Path(path)), Path(path))
    made = dh.LLM(options["endpoint"], options["model"], api_key_env=options["api_key_env"], prompt=prompt)
    return [made if one == "llm" else one for one in found]


def _confirm(what: str) -> bool:
    """Ask whether a language model may be called; a script, which cannot answer, gives --yes."""
    is_terminal = sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison] - closed
    refuse_if(not is_terminal, f"{what}: add --yes")
    return click.confirm(f"{what}. Go on?", err=True)


@command(
    "deadheat validate cases.json",
    "deadheat validate german/*.json --language de --ontology hp.obo.gz",
    "deadheat validate cases.csv --id-pattern 'MONDO:[0-9]{7}'",
    "deadheat validate --schema > cases.schema.json",
)
@click.argument("files", type=INPUT, nargs=-1, metavar="FILE...")
@option(
    "--ontology",
    type=INPUT,
    metavar="FILE",
    help="OBO, OBO Graphs or OWL; expected ids that it lacks or marks as obsolete are reported.",
)
@with_options(*CASES)
@option("--schema", is_flag=True, help="Print the JSON Schema that files are checked against.")
@format_option()
@output_option
@with_options(*LIMITS, "flags")
def validate(files: tuple[str, ...], *, ontology: str | None, schema: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Check and summarise files of labelled cases (JSON, JSON lines or CSV), and say how to fix what is wrong.

    First against a JSON Schema, then for what no schema sees: repeated texts, missing labels, ids that an ontology
    lacks, texts in another language (a guess), too few cases for a sound conclusion. Then how many cases each usable
    file has by language, difficulty, category and domain, what they expect, and how often they repeat.

    Exit codes: 0 usable, warnings or not; 3 a case or a file cannot be used, for example because an expected
    id is malformed or repeated.
    """
    from deadheat.plugins.bench.cases import schema_text, validate as check
    from deadheat.plugins.bench.cases.validation import report_validation

    refuse_if(schema == bool(files), "give files to check, or --schema to print the schema")
    output = Output({"form": "table"} | options if schema else options, [*files, ontology])
    if schema:
        emit(schema_text().rstrip("\n"), output.path)
        return
    terms = None
    if ontology is not None:
        with phase(f"reading {Path(ontology).name}"):
            terms = dh.read_ontology(ontology)  # once for all files
    own = {name: options[name] for name in ("id_pattern", "language", "columns")}
    found = [check(path, ontology=terms, format=options["input_format"], **own) for path in files]
    found = [one.told(error_message(one.cause, has_place=False)) if one.cause else one for one in found]
    names = {path: one.name or label(path, "cases") for path, one in zip(files, found, strict=True)}
    sets = list(unique_names(files, names.__getitem__))
    output.print(report_validation(found, sets, is_data=output.form == "json"))
    if not all(one.is_usable for one in found):
        raise click.exceptions.Exit(BAD_DATA)
