"""What ships with deadheat: the core and the plugins, in order, and what each adds.

This is the only file that names plugins. It imports none: modules are named as texts, and loaded when what they add is
needed. In long tuples a star puts a row of names into the tuple.
"""

from deadheat.core.plugin_records import (
    BesideTables,
    Command,
    CommandTables,
    Feature,
    FileFormats,
    MeasureFile,
    OptionGroup,
    Plugin,
    PluginSettings,
    QueryColumn,
    Registry,
    RunColumn,
    SavedDocument,
    SavedKeys,
    Service,
)

# What features go with: arguments of `evaluate`, and uses of its results
CONVENTIONS = (  # arguments of `evaluate`, each of which goes with all others
    *("ties", "missing", "no_relevant", "score_precision", "rel", "depth", "judged_only"),
    *("ascending", "then_by", "normalize_ids", "collection", "weights"),
)
ALL_BUT_TIES = tuple(name for name in CONVENTIONS if name != "ties")
ALL_BUT_WEIGHTS = tuple(name for name in CONVENTIONS if name != "weights")
OF_MEANS = ("save", "by", "cluster", "compare", "compare_evaluations", "orders")  # uses that core and compare have
OF_PAIRS = ("margin", "detect", "ranks")  # uses of differences, for which their noise has to be known
OF_BOUNDS = (  # what bounds go with, whichever documents may be anything
    *("no_relevant=zero", "missing", "score_precision", "rel", "depth", "ascending", "then_by", "normalize_ids"),
    *("collection", "weights", *OF_MEANS, *OF_PAIRS),
    *("rescore", "gate", "baseline", "history", "leaderboard", "report", "steps", "abstention", "compare_languages"),
)

CORE = Plugin(
    name="core",
    help="From two files to a table with exact means, their spread and their intervals.",
    package="deadheat.core",
    commands=(
        Command("evaluate", "deadheat.core.cli.evaluate", "Score runs, exactly where scores tie."),
        Command("measures", "deadheat.core.cli.guide", "List the measures, explain one, or say which to use."),
        Command("plugins", "deadheat.core.cli.plugins", "List the plugins that are there, and what each adds."),
        Command("convert", "deadheat.core.cli.convert", "Convert qrels or a run from one format to another."),
        Command("schema", "deadheat.core.cli.guide", "Print the JSON Schema of what a command prints as JSON."),
        Command("demo", "deadheat.core.cli.guide", "Show on real data why ties matter."),
    ),
    measures=(
        MeasureFile("deadheat.core.measures.top", ("P", "R", "F", "Rprec", "Judged")),
        MeasureFile("deadheat.core.measures.totals", ("NumRelRet", "NumQ", "NumRet", "NumRel")),
        MeasureFile("deadheat.core.measures.discounted", ("DCG", "nDCG", "IDCG")),
        MeasureFile("deadheat.core.measures.rank_biased", ("RBP", "RBPResidual")),
        MeasureFile("deadheat.core.measures.average", ("AP", "AR")),
        MeasureFile("deadheat.core.measures.graded_average", ("GAP", "Q")),
        MeasureFile("deadheat.core.measures.cascade", ("ERR", "nERR")),
        MeasureFile("deadheat.core.measures.first", ("RR", "Hit", "FRP", "MTRR", "TMHits", "ESL")),
        MeasureFile("deadheat.core.measures.mean_rank", ("MR",)),
        MeasureFile("deadheat.core.measures.preference", ("bpref",)),
    ),
    readers=(
        FileFormats("deadheat.core.io.formats.delimited", ("csv", "tsv"), (".csv", ".tsv")),
        FileFormats("deadheat.core.io.formats.trec", ("trec",), (".run", ".qrels", ".qrel", ".trec", ".txt")),
        FileFormats("deadheat.core.io.formats.jsonl", ("jsonl",), (".jsonl", ".ndjson")),
        FileFormats("deadheat.core.io.formats.json_documents", ("json",), (".json",)),
        FileFormats("deadheat.core.io.formats.parquet", ("parquet",), (".parquet",)),
    ),
    beside=(BesideTables("deadheat.core.placements.subtopics", ("subtopics",)),),
    formats=(
        "deadheat.core.report.as_data",
        "deadheat.core.report.as_html",
        "deadheat.core.report.as_latex",
        "deadheat.core.report.as_markdown",
        "deadheat.core.report.as_table",
    ),
    reports=(
        "deadheat.core.report.of_evaluation",
        "deadheat.core.report.of_measures",
        "deadheat.core.report.of_objects",
    ),
    services=(Service("shown", "deadheat.core.report.shown"),),
    features=(
        *(Feature(name, goes_with=CONVENTIONS) for name in CONVENTIONS),
        Feature("save", kind="use", goes_with=CONVENTIONS, what="a saved evaluation"),
        Feature("by", kind="use", goes_with=CONVENTIONS, what="a table of strata"),
        Feature("cluster", kind="use", goes_with=(*CONVENTIONS, "by", "compare", "compare_evaluations", *OF_PAIRS)),
    ),
    saved=(
        SavedDocument("deadheat evaluation", "deadheat compare, gate and report take it in place of qrels and run"),
    ),
)

COMPARE = Plugin(
    name="compare",
    help="Say who is better: tests, corrections, intervals of differences, and what ties can reverse.",
    commands=(
        Command(
            "compare", "deadheat.plugins.compare.command", "Say which runs differ by more than chance, and than ties."
        ),
    ),
    reports=(
        "deadheat.plugins.compare.report",
        "deadheat.plugins.compare.report_tables",
        "deadheat.plugins.compare.report_orders",
    ),
    figures=(
        "deadheat.plugins.compare.figures_of_pairs",
        "deadheat.plugins.compare.figure_of_matrix",
        "deadheat.plugins.compare.figure_of_ranks",
    ),
    features=(
        Feature("compare", kind="use", goes_with=(*CONVENTIONS, "by"), what="a comparison"),
        Feature("compare_evaluations", kind="use", goes_with=(*CONVENTIONS, "by"), what="a comparison of evaluations"),
        Feature("orders", kind="use", goes_with=CONVENTIONS, what="an order of systems"),
        Feature("margin", kind="use", goes_with=(*CONVENTIONS, "by"), what="margin"),
        Feature("detect", kind="use", goes_with=(*CONVENTIONS, "by"), what="detect"),
        Feature("ranks", kind="use", goes_with=(*CONVENTIONS, "by"), what="ranks"),
    ),
)

TIES = Plugin(
    name="ties",
    help="Ties of a run and what they decide, values step by step, coarser scores, rerankers that tie.",
    requires=("compare",),
    commands=(
        Command("ties", "deadheat.plugins.ties.command", "Show the ties of a run, and what they decide."),
        Command("steps", "deadheat.plugins.ties.command", "Show how the value of one query comes about, rank by rank."),
        Command(
            "simulate",
            "deadheat.plugins.ties.simulate_command",
            "Make up rerankers that tie, or make the scores of a run coarser.",
        ),
    ),
    reports=(
        "deadheat.plugins.ties.report",
        "deadheat.plugins.ties.report_of_simulation",
        "deadheat.plugins.ties.report_of_steps",
    ),
    figures=("deadheat.plugins.ties.figures", "deadheat.plugins.ties.figure_of_coarsening"),
    services=(
        Service("steps", "deadheat.plugins.ties.steps", "how a value comes about, step by step,"),
        Service("tie_profile", "deadheat.plugins.ties.profile", "a table of ties"),
        Service("means_by_rule", "deadheat.plugins.ties.figures", "a figure of ties"),
    ),
    features=(
        Feature(
            "steps",
            kind="use",
            goes_with=("ties=expected", "ties=best", "ties=worst", *ALL_BUT_TIES),
            what="a list of steps",
        ),
    ),
)

DIVERSITY = Plugin(
    name="diversity",
    help="Measures of judgments by subtopic: alpha-nDCG, ERR-IA, NRBP and kin.",
    measures=(
        MeasureFile(
            "deadheat.plugins.diversity.measures",
            ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"),
            aliases=("MAP_IA", "strec"),
        ),
        MeasureFile("deadheat.plugins.diversity.all_topics", ("StAllHit",)),
    ),
)

ALTERNATIVES = Plugin(
    name="alternatives",
    help="Take relevant documents in groups, one of each of which is enough: [['a', 'b'], ['c']].",
    requires=("diversity",),
    kept=(SavedKeys("deadheat.plugins.alternatives.saved", judgments=("are_alternatives",)),),
    services=(
        Service("groups", "deadheat.plugins.alternatives.rule", "relevant documents in groups, [['a', 'b'], ['c']],"),
    ),
    features=(
        Feature(
            "alternatives",
            argument="qrels",
            kind="given",
            goes_with=(
                *("ties", "missing", "no_relevant", "score_precision", "depth", "judged_only"),
                *("ascending", "then_by", "normalize_ids", "collection", "weights"),
                *("repeats", *OF_MEANS, *OF_PAIRS, "rescore", "gate", "baseline", "history", "leaderboard", "report"),
                *("steps", "abstention", "compare_languages"),
            ),
            what="relevant documents in groups",
            hints={
                "bounds": "a document that is not in a group is not relevant",
                "judge": "its labels are of documents, not of groups",
                "rel": "documents in groups have no grades",
            },
        ),
    ),
)

SPANS = Plugin(
    name="spans",
    help="Hold runs of chunks against judged passages of documents, however these are cut.",
    requires=("diversity",),
    options=(
        OptionGroup(
            "other_judgments", "deadheat.plugins.spans.options", ("--spans", "--overlap", "--overlap-of", "--documents")
        ),
    ),
    measures=(
        MeasureFile(
            "deadheat.plugins.spans.coverage.measures",
            ("CharRecall", "CharPrecision", "CharIoU", "CharDensity"),
            aliases=("TokenRecall", "TokenPrecision", "TokenIoU", "TokenDensity"),
        ),
    ),
    beside=(BesideTables("deadheat.plugins.spans.passages", ("passages",)),),
    judgments=("deadheat.plugins.spans.options",),
    kept=(SavedKeys("deadheat.plugins.spans.saved", judgments=("span_rule", "passages")),),
    features=(
        Feature(
            "spans",
            argument="qrels",
            kind="given",
            goes_with=(
                *("ties", "no_relevant", "missing", "score_precision", "rel", "depth", "ascending", "weights"),
                *("repeats", *OF_MEANS, *OF_PAIRS, "rescore", "gate", "baseline", "history", "leaderboard", "report"),
                *("steps", "abstention", "compare_languages"),
            ),
            hints={
                "bounds": "each chunk is judged",
                "judged_only": "each chunk is judged",
                "collection": "dh.Spans(rows, documents=...) checks the ids of documents",
            },
        ),
    ),
)

TOPK = Plugin(
    name="topk",
    help="Read arrays of neighbours, as FAISS and others return them, and files of such arrays.",
    readers=(FileFormats("deadheat.plugins.topk.npz", ("npz",), (".npz",)),),
    services=(Service("topk", "deadheat.plugins.topk.arrays", "Run.from_topk"),),
)

EXCLUDE = Plugin(
    name="exclude",
    help="Leave documents out of runs and judgments: those that are the query itself, or given pairs.",
    options=(OptionGroup("exclude", "deadheat.plugins.exclude.options", ("--exclude",)),),
    inputs=("deadheat.plugins.exclude.options",),
    beside=(BesideTables("deadheat.plugins.exclude.beside", ("excluded",)),),
    settings=(PluginSettings("deadheat.plugins.exclude.conventions", {"exclude": ()}),),
    services=(
        Service("exclude", "deadheat.plugins.exclude.exclusion", "exclude="),
        Service("exclude_again", "deadheat.plugins.exclude.again", "what leaves out the same documents again"),
    ),
    features=(
        Feature(
            "exclude",
            goes_with=(
                *(
                    *CONVENTIONS,
                    "alternatives",
                    "judge",
                    "bounds",
                    "failures",
                    "repeats",
                    *OF_MEANS,
                    *OF_PAIRS,
                    "rescore",
                ),
                *("gate", "gate by strata", "baseline", "history", "leaderboard", "report", "steps", "abstention"),
                "compare_languages",
            ),
            hints={"spans": "leave the documents out of the spans and the runs"},
        ),
    ),
)

MORE_MEASURES = Plugin(
    name="more_measures",
    help="Measures of trec_eval, ir_measures and papers that few people name.",
    measures=(
        MeasureFile(
            "deadheat.plugins.more_measures.top",
            ("RelP", "RprecMult", "Hole"),
            aliases=("SetRelP", "R_cap", "set_relative_P", "relative_P", "Rprec_mult", "unj"),
        ),
        MeasureFile(
            "deadheat.plugins.more_measures.sets",
            ("NumNonrelJudgedRet", "SetAP", "Utility"),
            aliases=("num_nonrel_judged_ret", "set_map", "utility"),
        ),
        MeasureFile("deadheat.plugins.more_measures.abstention", ("Abstain",)),
        MeasureFile("deadheat.plugins.more_measures.adjusted", ("Adjusted",)),
        MeasureFile("deadheat.plugins.more_measures.all_hit", ("AllHit",), aliases=("recall_all", "RecallAll")),
        MeasureFile(
            "deadheat.plugins.more_measures.averaged_ndcg", ("RnDCG", "nDCGRel"), aliases=("Rndcg", "ndcg_rel")
        ),
        MeasureFile(
            "deadheat.plugins.more_measures.interpolated",
            ("IPrec", "AP11"),
            aliases=("iprec", "iprec_at_recall", "11pt_avg"),
        ),
        MeasureFile("deadheat.plugins.more_measures.prefix", ("infAP", "G", "AUPRC"), aliases=("PRAUC", "PR_AUC")),
        MeasureFile("deadheat.plugins.more_measures.compatibility", ("Compat",)),
        MeasureFile(
            "deadheat.plugins.more_measures.cwl",
            ("INSQ", "SDCG", "BPM", "INST", "NERR8", "NERR9", "NERR10", "NERR11"),
        ),
        MeasureFile("deadheat.plugins.more_measures.largest", ("MaxRel",), aliases=("MaxOntSim",)),
        MeasureFile("deadheat.plugins.more_measures.preference", ("binG", "AUC", "GAUC", "Accuracy")),
        MeasureFile(
            "deadheat.plugins.more_measures.geometric", ("GMAP", "GMbpref", "yaap"), aliases=("gm_map", "gm_bpref")
        ),
    ),
    figures=("deadheat.plugins.more_measures.figures",),
    services=(Service("abstention", "deadheat.plugins.more_measures.abstention_table"),),
    features=(
        Feature(
            "abstention",
            kind="use",
            goes_with=ALL_BUT_WEIGHTS,
            what="abstention",
        ),
    ),
)

JUDGES = Plugin(
    name="judges",
    help="Say how far the labels of a judge agree with human ones, and estimate means and differences with their help.",
    requires=("compare",),
    commands=(
        Command("judges", "deadheat.plugins.judges.command", "Show how far a judge's labels agree with human ones."),
    ),
    reports=("deadheat.plugins.judges.report",),
    pages=("deadheat.plugins.judges.page",),
    figures=("deadheat.plugins.judges.figures",),
    beside=(BesideTables("deadheat.plugins.judges.failures", ("failures",)),),
    options=(
        OptionGroup("judge", "deadheat.plugins.judges.options", ("--judge",)),
        OptionGroup("grades", "deadheat.plugins.judges.answer_options", ("--grades",)),
    ),
    inputs=("deadheat.plugins.judges.grade_input",),
    evaluators=("deadheat.plugins.judges.options",),
    services=(
        Service("judge", "deadheat.plugins.judges.labels", "judge="),
        Service("judge_in_files", "deadheat.plugins.judges.files", "--judge"),
    ),
    features=(
        Feature(
            "judge",
            goes_with=(*CONVENTIONS, "by", "compare", "margin", "detect", "gate", "steps"),
            what="means that a judge's labels help to estimate",
            hints={
                "": "evaluate without a judge",
                "compare_evaluations": "evaluate without a judge, and give its labels to the comparison",
            },
        ),
    ),
)

BOUNDS = Plugin(
    name="bounds",
    help="Say what labels of unjudged documents could make of values and differences.",
    options=(OptionGroup("bounds", "deadheat.plugins.bounds.options", ("--unjudged", "--unjudged-max-rel")),),
    modes=("deadheat.plugins.bounds.over_labels", "deadheat.plugins.bounds.over_places"),
    settings=(
        PluginSettings(
            "deadheat.plugins.bounds.conventions",
            {"unjudged": ("bounds",), "unjudged_max_rel": (), "failed": ("bounds",)},
        ),
    ),
    kept=(
        SavedKeys(
            "deadheat.plugins.bounds.saved",
            judgments=("open_to",),
            ranking=("failures",),
            columns=("unjudged_min", "unjudged_max"),
        ),
    ),
    facts=("deadheat.plugins.bounds.report",),
    services=(
        Service("bounds", "deadheat.plugins.bounds.part", "a bound over unjudged documents"),
        Service("bounds_of_differences", "deadheat.plugins.bounds.differences", "a bound over unjudged documents"),
    ),
    features=(
        Feature(
            "bounds",
            argument="unjudged",
            goes_with=(
                "ties=expected",
                "ties=doc_id",
                "ties=input",
                "ties=random",
                *OF_BOUNDS,
            ),
            what="bounds over unjudged documents",
        ),
        Feature(
            "failures",
            argument="qrels",
            kind="given",
            goes_with=(
                "ties=expected",
                "ties=doc_id",
                "ties=input",
                *OF_BOUNDS,
            ),
            what="judgments that a judge failed to give",
            hints={"bounds": "with failures there are bounds over what a judge failed to grade, and no others"},
        ),
    ),
)

WEEKS = Plugin(
    name="weeks",
    help="Score saved rankings again, compare judgments, follow a system over time, and say what to judge first.",
    requires=("compare", "bounds"),
    commands=(
        Command(
            "rescore", "deadheat.plugins.weeks.saved_commands", "Score a saved evaluation again, under other judgments."
        ),
        Command("diff", "deadheat.plugins.weeks.judgment_commands", "Say what differs between two sets of judgments."),
        Command("history", "deadheat.plugins.weeks.saved_commands", "Show saved evaluations in order of time."),
        Command("holes", "deadheat.plugins.weeks.judgment_commands", "Say which documents to judge first."),
    ),
    options=(OptionGroup("history", "deadheat.plugins.weeks.options", ("--history",)),),
    reports=(
        "deadheat.plugins.weeks.report_diff",
        "deadheat.plugins.weeks.report_history",
        "deadheat.plugins.weeks.report_holes",
    ),
    pages=("deadheat.plugins.weeks.page",),
    figures=("deadheat.plugins.weeks.figures",),
    services=(
        Service("rescoring", "deadheat.plugins.weeks.rescoring", "to score a saved ranking again"),
        Service("lost_values", "deadheat.plugins.weeks.lost_values", "to compute values of queries that had weight 0"),
        Service("history", "deadheat.plugins.weeks.page", "the page of a history"),
    ),
    features=(
        Feature(
            "rescore",
            kind="use",
            goes_with=(
                *("ties=expected", "ties=best", "ties=worst", "ties=doc_id", "ties=input"),
                *ALL_BUT_TIES,
                "save",
            ),
            what="scoring a ranking again",
        ),
        Feature("history", kind="use", goes_with=(*CONVENTIONS, "save"), what="a history"),
    ),
)

GATES = Plugin(
    name="gates",
    help="Check thresholds and a baseline, and fail a build.",
    commands=(
        Command(
            "gate", "deadheat.plugins.gates.command", "Check thresholds and regressions; exit code 1 if a gate failed."
        ),
    ),
    formats=("deadheat.plugins.gates.formats",),
    reports=("deadheat.plugins.gates.report",),
    services=(Service("assert_ranking", "deadheat.plugins.gates.assertion"),),
    features=(
        Feature("gate", kind="use", goes_with=(*CONVENTIONS, "save", "by", "cluster"), what="a gate"),
        Feature("baseline", kind="use", goes_with=(*CONVENTIONS, "save", "by", "cluster", "gate"), what="a baseline"),
        Feature(
            "gate by strata",
            kind="use",
            goes_with=(*CONVENTIONS, "save", "bounds", "failures", "alternatives", "spans", "repeats"),
            what="a check of strata",
        ),
    ),
)

REPEATS = Plugin(
    name="repeats",
    help="Several runs of one system that answers differently each time, and the noise between them.",
    options=(OptionGroup("systems", "deadheat.plugins.repeats.options", ("--repeats",)),),
    run_columns=(RunColumn("repeat", "deadheat.plugins.repeats.repeats"),),
    systems=("deadheat.plugins.repeats.options",),
    pairs=("deadheat.plugins.repeats.pairs",),
    facts=("deadheat.plugins.repeats.report",),
    services=(Service("repeats", "deadheat.plugins.repeats.planning", "what differs between repeats"),),
    kept=(SavedKeys("deadheat.plugins.repeats.saved", table=("repeats",)),),
    features=(
        Feature(
            "repeats",
            argument="run",
            kind="given",
            goes_with=(
                *("no_relevant", "missing", "score_precision", "rel", "depth", "judged_only", "ascending", "then_by"),
                *("normalize_ids", "collection", "weights", *OF_MEANS, "gate", "history", "report"),
            ),
            what="systems with repeats",
            hints={"": "it would leave out their noise"},
        ),
    ),
)

LEADERBOARD = Plugin(
    name="leaderboard",
    help="Rank models over many tasks, with ranks as intervals and tiers.",
    commands=(
        Command(
            "leaderboard",
            "deadheat.plugins.leaderboard.command",
            "Rank models over many tasks, as far as ranks are sure.",
        ),
    ),
    reports=("deadheat.plugins.leaderboard.report",),
    pages=("deadheat.plugins.leaderboard.page",),
    figures=("deadheat.plugins.leaderboard.figures",),
    features=(Feature("leaderboard", kind="use", goes_with=(*CONVENTIONS, "save"), what="a leaderboard"),),
)

LANGUAGES = Plugin(
    name="languages",
    help="Compare systems on the same queries in several languages.",
    requires=("compare",),
    reports=("deadheat.plugins.languages.report",),
    figures=("deadheat.plugins.languages.figures",),
    query_columns=(QueryColumn("pair_id", "deadheat.plugins.languages.beside"),),
    tables=(CommandTables("compare", ("across_languages", "language_differences", "language_interactions")),),
    features=(
        Feature(
            "compare_languages",
            kind="use",
            goes_with=ALL_BUT_WEIGHTS,
            what="a comparison of languages",
        ),
    ),
)

FUSION = Plugin(
    name="fusion",
    help="Make one run of several: by ranks, by scores, or by what judgments say; exact where scores tie.",
    requires=("compare",),
    commands=(
        Command("fuse", "deadheat.plugins.fusion.command", "Make one run of several, exactly where scores tie."),
    ),
    reports=("deadheat.plugins.fusion.report_of_tuning",),
    figures=("deadheat.plugins.fusion.figures",),
    services=(Service("fusion", "deadheat.plugins.fusion.fuse", "fusion of runs"),),
)

DENSE = Plugin(
    name="dense",
    help="Evaluate matrices of scores and vectors without a ranking: whole, batch by batch, or among sampled others.",
    saved=(SavedDocument("deadheat accumulator", "Accumulator.resume() takes it"),),
    kept=(SavedKeys("deadheat.plugins.dense.sampled_measure", measures=("sampled",)),),
)

RECOMMENDER = Plugin(
    name="recommender",
    help="Say which items a recommender shows, how popular they are, and how exposure is shared.",
    requires=("dense",),
    commands=(
        Command(
            "items",
            "deadheat.plugins.recommender.command",
            "Show which items a recommender shows: coverage, popularity, novelty.",
        ),
    ),
    reports=("deadheat.plugins.recommender.report",),
    services=(Service("items", "deadheat.plugins.recommender.item_profile", "a profile of items"),),
)

AGREE = Plugin(
    name="agree",
    help="Say how far two rankings agree without judgments, or two orders of systems.",
    requires=("compare",),
    commands=(Command("agree", "deadheat.plugins.agree.command", "Show how far the rankings of two runs agree."),),
    reports=("deadheat.plugins.agree.report",),
)

COLUMNS = Plugin(
    name="columns",
    help="Evaluate several columns of one table, or the features of a LETOR file, each as a run.",
    options=(OptionGroup("other_evaluations", "deadheat.plugins.columns.options", ("--score-columns",)),),
    readers=(FileFormats("deadheat.plugins.columns.letor", ("letor",), (".letor", ".svmlight", ".svm", ".libsvm")),),
    evaluations=("deadheat.plugins.columns.command",),
)

EXPORTS = Plugin(
    name="exports",
    help="Read results and judgments as search libraries, engines and other tools have them.",
    readers=(FileFormats("deadheat.plugins.exports.msmarco", ("msmarco",), ()),),
    dialects=("deadheat.plugins.exports.quepid_tables",),
    objects=(  # a document is read by the first that matches
        "deadheat.plugins.exports.forms",
        "deadheat.plugins.exports.llamaindex",
        "deadheat.plugins.exports.ratings",
        "deadheat.plugins.exports.mteb",
        "deadheat.plugins.exports.quepid",
        "deadheat.plugins.exports.rank_eval",
        "deadheat.plugins.exports.failures",
        "deadheat.plugins.exports.chroma",
        "deadheat.plugins.exports.responses",
        "deadheat.plugins.exports.folders",
        "deadheat.plugins.exports.data_sets",
        "deadheat.plugins.exports.ranx",
    ),
)

ENGINES = Plugin(
    name="engines",
    help="Read Parquet with DuckDB or Spark, and go through runs that are too large to hold.",
    options=(
        OptionGroup("engines", "deadheat.plugins.engines.options", ("--engine", "--spark-master", "--spark-conf")),
    ),
    objects=("deadheat.plugins.engines.folders",),
    inputs=("deadheat.plugins.engines.opening",),
    services=(
        Service("by_query", "deadheat.plugins.engines.by_query", "a run that is not held in memory"),
        Service("tables_beside_rows", "deadheat.plugins.engines.tables_beside_rows"),
    ),
)

FIGURES = Plugin(
    name="figures",
    help="Draw figures of results, in Python, beside a report and in a page.",
    options=(
        OptionGroup(
            "figures",
            "deadheat.plugins.figures.options",
            ("--figures", "--figure", "--figure-format", "--no-title", "--figure-width"),
        ),
    ),
    companions=("deadheat.plugins.figures.companion",),
    figures=(
        "deadheat.plugins.figures.draw_lines",
        "deadheat.plugins.figures.draw_rows",
    ),
    services=(
        Service("figures", "deadheat.plugins.figures.figures", "a figure"),
        Service("figure_choice", "deadheat.plugins.figures.choice", "a figure"),
        Service("figure_style", "deadheat.plugins.figures.style", "a figure"),
        Service("figure_svg", "deadheat.plugins.figures.saving", "a figure"),
        Service("painter", "deadheat.plugins.figures.painter", "a figure"),
    ),
)

PAGE = Plugin(
    name="page",
    help="One HTML file about runs, to look at, to mail, to put into a wiki.",
    requires=("compare",),
    commands=(
        Command("report", "deadheat.plugins.page.command", "Write one HTML file about runs, for mail and wiki."),
    ),
    pages=("deadheat.plugins.page.assemble",),
    services=(Service("page", "deadheat.plugins.page", "a page of results"),),
    features=(Feature("report", kind="use", goes_with=(*CONVENTIONS, "save", "compare"), what="a page"),),
)

VALUES = Plugin(
    name="values",
    help="Take values that other tools computed, such as trec_eval -q, in the place of evaluations.",
    values=("deadheat.plugins.values.sources",),
    kept=(SavedKeys("deadheat.plugins.values.saved", judgments=("values_of",), measures=("of_another_tool",)),),
    features=(
        Feature(
            "another tool",
            kind="given",
            goes_with=(
                *CONVENTIONS,  # of which all but weights were for the other tool to choose
                *("save", "by", "cluster", "compare", "compare_evaluations", "orders", *OF_PAIRS),
                *("gate", "gate by strata", "baseline", "history", "leaderboard", "report"),
            ),
            what="values of another tool, which come without rankings",
            hints={"": "evaluate the run with deadheat"},
        ),
    ),
)

BENCH = Plugin(
    name="bench",
    help="Run retrievers on labelled cases, and compare them: cases, ontologies, retrievers, language models.",
    requires=("compare", "more_measures", "languages"),
    commands=(
        Command("bench", "deadheat.plugins.bench.command", "Run retrievers on labelled cases, and compare them."),
        Command(
            "validate",
            "deadheat.plugins.bench.command",
            "Check labelled cases, say how to fix what is wrong, and summarise them.",
        ),
    ),
    services=(
        Service("cases", "deadheat.plugins.bench.cases", "a file of labelled cases"),
        Service("collection", "deadheat.plugins.bench.collection", "a collection of documents"),
        Service("finished_bench", "deadheat.plugins.bench.store"),
    ),
)

COMPAT = Plugin(
    name="compat",
    help="Interfaces of pytrec_eval, trec_eval, ir_measures and ranx; the conventions behind a number.",
    requires=("compare", "diversity", "more_measures"),
    commands=(
        Command("trec_eval", "deadheat.plugins.compat.trec_eval_command", "Print what trec_eval prints."),
        Command("explain", "deadheat.plugins.compat.explain_command", "Find the conventions behind a reported number."),
    ),
    reports=("deadheat.plugins.compat.report",),
    services=(
        Service("compat", "deadheat.plugins.compat.switch"),
        Service("pytrec_eval", "deadheat.plugins.compat.pytrec_eval"),
        Service("ranx", "deadheat.plugins.compat.ranx"),
        Service("ir_measures_provider", "deadheat.plugins.compat.ir_measures_provider"),
        Service("ir_measures", "deadheat.plugins.compat.ir_measures"),
    ),
)

SENTENCE_TRANSFORMERS = Plugin(
    name="sentence_transformers",
    help="Evaluators of sentence-transformers with exact means.",
    requires=("compat", "dense"),
    services=(Service("sentence_transformers", "deadheat.plugins.sentence_transformers.evaluators"),),
)

CONFORMANCE = Plugin(
    name="conformance",
    help="Check measures and file formats of plugins: every order of ties, round trips, refusals.",
)

PLUGINS = (
    CORE,
    COMPARE,
    TIES,
    DIVERSITY,
    ALTERNATIVES,
    SPANS,
    TOPK,
    EXCLUDE,
    MORE_MEASURES,
    JUDGES,
    REPEATS,
    BOUNDS,
    WEEKS,
    GATES,
    LEADERBOARD,
    LANGUAGES,
    FUSION,
    DENSE,
    RECOMMENDER,
    AGREE,
    COLUMNS,
    EXPORTS,
    ENGINES,
    FIGURES,
    PAGE,
    VALUES,
    BENCH,
    COMPAT,
    SENTENCE_TRANSFORMERS,
    CONFORMANCE,
)

ORDER_OF_COMMANDS = (  # as `deadheat --help` lists them, the most useful first; a command that is not here comes last
    *("evaluate", "compare", "fuse", "agree", "leaderboard", "report", "gate", "rescore", "diff", "ties", "steps"),
    *("explain", "history", "holes", "judges", "items", "simulate", "trec_eval", "measures", "convert", "bench"),
    *("validate", "schema", "plugins", "demo"),
)

ORDER_OF_FORMATS = (  # of files, as errors list them; one that is not here comes last
    *("trec", "csv", "tsv", "jsonl", "json", "letor", "parquet", "npz", "msmarco"),
)

ORDER_OF_INTERVAL_STEPS = (  # parts of scores that change the interval of a mean; one that is not here comes last
    "repeats",  # which widen intervals of logarithms
    "geometric",  # those of mean logarithms become those of geometric means
    "judge",  # who is set beside what there is without him
)

ORDER_OF_MEASURES = (  # as the catalogue lists them; a measure that is not here comes last
    *("P", "R", "F", "Rprec", "NumRelRet", "Judged", "RelP", "RprecMult", "Hole", "NumQ", "NumRet", "NumRel"),
    *("NumNonrelJudgedRet", "SetAP", "Utility", "Abstain"),
    *("DCG", "nDCG", "IDCG", "RBP", "RBPResidual", "RnDCG", "nDCGRel"),
    *("AP", "AR", "GAP", "Q", "IPrec", "AP11"),
    *("ERR", "nERR", "MaxRel"),
    *("CharRecall", "CharPrecision", "CharIoU", "CharDensity"),
    *("infAP", "G", "AUPRC", "Compat"),
    *("INSQ", "SDCG", "BPM", "INST", "NERR8", "NERR9", "NERR10", "NERR11"),
    *("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall", "StAllHit"),
    *("RR", "Hit", "AllHit", "FRP", "MTRR", "TMHits", "ESL", "MR"),
    *("bpref", "binG", "AUC", "GAUC", "Accuracy"),
    *("GMAP", "GMbpref", "yaap", "Adjusted"),
)

REGISTRY = Registry(PLUGINS, ORDER_OF_COMMANDS, ORDER_OF_MEASURES, ORDER_OF_FORMATS, ORDER_OF_INTERVAL_STEPS)
