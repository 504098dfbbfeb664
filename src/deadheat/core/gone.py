"""Names that deadheat no longer has, and what to write instead: errors say it, and docs/guide/moving.md lists it."""

GONE = {  # an option, one of a command, a command, a public name, an argument, a value of one
    "--fill": "give --unjudged bounds for what labels could change, and see deadheat holes for which to judge first",
    "--abstention": "list measures such as 'Abstain@0.3 Abstain@0.5', or call Evaluation.abstention() in Python",
    "--overlaps": "call deadheat evaluate --spans FILE --overlap SHARE for each share",
    "--check-duplicates": "leave it out: it is --duplicates error, the default",
    "--no-check-duplicates": "give --duplicates trust",
    "--max-decompressed": "give --max-memory: more than 4 GB there also lets a compressed file take so much",
    "max_decompressed": "call max_memory(n_bytes): more than 4 GB there also lets a compressed file take so much",
    "compare_overlaps": "call evaluate(spans.with_overlap(share), runs, ...) for each share",
    "compare --compact": "leave it out: it is what compare prints; --full has every table",
    "check_duplicates=": "give duplicates='trust' for False",
    "deadheat cases": "call deadheat validate FILE, which prints its table; --format json has it under sets",
    "demo --digits": "--format json has all digits",
    "diff --unjudged": "call deadheat rescore or evaluate: diff has no bounds to show",
    "diff --unjudged-max-rel": "call deadheat rescore or evaluate: diff has no bounds to show",
    "items --grades": "give a run of scores: lists of items are no answers of a judge",
    "report --collection": "give --texts FILE",
    "rescore -o": "give --save FILE.json or FOLDER/",
    "steps --unjudged": "call deadheat evaluate: steps has no bounds to show",
    "steps --unjudged-max-rel": "call deadheat evaluate: steps has no bounds to show",
    "unjudged='judge'": "take unjudged='bounds' for what labels could change, and holes() for which to judge first",
}


def find_replacement(*names: str) -> str:
    """Return what to write instead of the first of these names that deadheat no longer has; "" if it has all.

    Examples
    --------
    >>> find_replacement("evaluate --fill", "--fill")[:24]
    'give --unjudged bounds f'
    >>> find_replacement("--ties")
    ''
    """
    for name in names:
        if name in GONE:
            return GONE[name]
    return ""
