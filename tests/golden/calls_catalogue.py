"""The catalogue in its order, the keys of schemas, and hashes of help."""

from __future__ import annotations

import json
from typing import Any

import deadheat as dh
from golden.commands import command_names, hash_of, help_of, printed
from golden.entries import entry
from golden.plain import Numbers

COMMANDS = list(command_names())


@entry()
def measures() -> object:
    """Names, in the order in which they are listed."""
    return list(dh.measures())


@entry()
def public_names() -> object:
    return dir(dh)


@entry()
def parameters() -> Numbers:
    """Parameters of each measure with their defaults, as `deadheat measures` lists them."""
    document = printed("measures")["document"]
    found: Numbers = {}
    for measure, by_name in document["parameters"].items():
        found[measure] = {name: stated["default"] for name, stated in by_name.items()}
    return {"keys": sorted(document), "parameters": found}


@entry()
def properties() -> Numbers:
    """What is stated of each measure."""
    found: Numbers = {}
    for name in dh.measures():
        measure: Any = dh.parse_measure(name if name not in {"RprecMult", "IPrec"} else f"{name}@0.5")
        found[name] = [
            measure.higher_is_better,
            list(measure.range),
            measure.only_total,
            measure.geometric,
            measure.label,
        ]
    return found


@entry()
def notations() -> Numbers:
    """What names are read as."""
    names = """MAP MRR MRR@10 MAR HR@5 Success@5 ndcg_cut_10 map recip_rank P_10 recall_100 Rprec bpref F1@5 success_1
    F1-Score@5 HitRate@10 nDCG@10 NDCG@5 ndcg@3 map_cut_5 infAP gm_map set_F num_rel_ret 11pt_avg iprec_at_recall_0.10
    relative_P_5 Rprec_mult_0.20 utility"""
    found: Numbers = {}
    for name in names.split():
        try:
            found[name] = str(dh.parse_measure(name))
        except dh.DeadheatError as error:
            found[name] = type(error).__name__
    return found


@entry()
def commands() -> object:
    """In the order of `deadheat --help`."""
    return COMMANDS


@entry(pinned=("click",))
def help_of_all() -> Numbers:
    found = {"deadheat": hash_of(help_of(["--help"]))}
    for name in COMMANDS:
        found[f"{name} --help"] = hash_of(help_of([name, "--help"]))
        found[f"{name} --help-all"] = hash_of(help_of([name, "--help-all"]))
    return found


@entry([name for name in COMMANDS if name not in {"report", "trec_eval", "convert", "schema"}])
def schema(name: str) -> object:
    """The keys of what a command prints as JSON; "*" stands for names such as those of systems, "[]" for items."""
    document = json.loads(help_of(["schema", name]))
    return {"keys": keys_of(document), "required": document["required"]}


def keys_of(schema: Any) -> Any:
    """Return the keys of an object, each with those that are inside."""
    keys: Numbers = {}
    for one in schema.get("anyOf", [schema]):
        for kind in ("properties", "patternProperties"):
            keys |= {key: keys_of(inner) for key, inner in one.get(kind, {}).items()}
        if isinstance(one.get("additionalProperties"), dict):
            keys["*"] = keys_of(one["additionalProperties"])
        if "items" in one:
            keys["[]"] = keys_of(one["items"])
    return keys
