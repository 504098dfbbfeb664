# What plugins of other distributions are written with, and where it is. What imports these names is read when the
# program runs, too: a line for each module.

from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.cli.errors import refuse_if
from deadheat.cli.help import option
from deadheat.cli.inputs import open_qrels, open_run
from deadheat.cli.options import command, with_options
from deadheat.cli.paths import INPUT, named_runs
from deadheat.cli.printing import Output, output_options
from deadheat.data.judging import JudgesRuns, KindOfJudgments
from deadheat.data.renderable import Renderable
from deadheat.data.tables import Qrels, Run
from deadheat.errors import (
    DataError,
    DeadheatError,
    DeadheatWarning,
    DuplicateError,
    MalformedRowError,
    MeasureError,
    ParameterError,
)
from deadheat.evaluation.evaluate import evaluate
from deadheat.evaluation.evaluation import Evaluation
from deadheat.hooks import Command, FileFormats, MeasureFile, Plugin
from deadheat.io.documents import export as register_document
from deadheat.io.files import Compression, blocks, decode_utf8, value_as_text, write_text
from deadheat.io.formats.base import Content, Format as FileFormat, frame_of_rows, register as register_file_format
from deadheat.io.kinds import VALUE_COLUMN, Kind
from deadheat.io.objects import read_text
from deadheat.io.results import Listing
from deadheat.io.values import check_ids_of_row, read_value
from deadheat.kernels.segments import divide_or_zero
from deadheat.measures.base import (
    COUNT,
    FLAG,
    Choice,
    CutMeasure,
    JointMeasure,
    Measure,
    Number,
    SumMeasure,
    parameter,
    register as register_measure,
)
from deadheat.measures.discounted import GainMeasure, WeightedMeasure
from deadheat.measures.notation import parse_measure
from deadheat.measures.top import RelevanceMeasure
from deadheat.placements.place import place
from deadheat.placements.placements import Placements
from deadheat.plugins.conformance.failure import CheckFailedError
from deadheat.plugins.conformance.measure import check_measure
from deadheat.plugins.conformance.reader import check_reader
from deadheat.report.model import (
    PAGES,
    Column,
    Fact,
    Report,
    ReportFormat,
    prose_fact,
    register as register_report_format,
    registers_report as register_report,
    tabulate,
)
from deadheat.settings import Settings, setting
from deadheat.third_party import third_party_plugins

__all__ = [
    "COUNT",
    "FLAG",
    "INPUT",
    "PAGES",
    "VALUE_COLUMN",
    "BoolArray",
    "CheckFailedError",
    "Choice",
    "Column",
    "Command",
    "Compression",
    "Content",
    "CutMeasure",
    "DataError",
    "DeadheatError",
    "DeadheatWarning",
    "DuplicateError",
    "Evaluation",
    "Fact",
    "FileFormat",
    "FileFormats",
    "FloatArray",
    "GainMeasure",
    "IntArray",
    "JointMeasure",
    "JudgesRuns",
    "Kind",
    "KindOfJudgments",
    "Listing",
    "MalformedRowError",
    "Measure",
    "MeasureError",
    "MeasureFile",
    "Number",
    "Output",
    "ParameterError",
    "Placements",
    "Plugin",
    "Qrels",
    "RelevanceMeasure",
    "Renderable",
    "Report",
    "ReportFormat",
    "Run",
    "Settings",
    "SumMeasure",
    "WeightedMeasure",
    "blocks",
    "check_ids_of_row",
    "check_measure",
    "check_reader",
    "command",
    "decode_utf8",
    "divide_or_zero",
    "evaluate",
    "frame_of_rows",
    "named_runs",
    "open_qrels",
    "open_run",
    "option",
    "output_options",
    "parameter",
    "parse_measure",
    "place",
    "prose_fact",
    "read_text",
    "read_value",
    "refuse_if",
    "register_document",
    "register_file_format",
    "register_measure",
    "register_report",
    "register_report_format",
    "setting",
    "tabulate",
    "third_party_plugins",
    "value_as_text",
    "with_options",
    "write_text",
]
