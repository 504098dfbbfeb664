# What plugins of other distributions are written with, and where it is. What imports these names is read when the
# program runs, too: a line for each module.

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.cli.errors import refuse_if
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import open_qrels, open_run
from deadheat.core.cli.options import command, with_options
from deadheat.core.cli.paths import INPUT, named_runs
from deadheat.core.cli.printing import Output, output_options
from deadheat.core.data.judging import JudgesRuns
from deadheat.core.data.kind_of_judgments import KindOfJudgments
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.renderable import Renderable
from deadheat.core.data.run import Run
from deadheat.core.errors import (
    DataError,
    DeadheatError,
    DeadheatWarning,
    DuplicateError,
    MalformedRowError,
    MeasureError,
    ParameterError,
)
from deadheat.core.evaluation.evaluate import evaluate
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.io.content import Content
from deadheat.core.io.documents import register_document
from deadheat.core.io.files import blocks, decode_utf8
from deadheat.core.io.formats.base import Format as FileFormat, frame_of_rows, register as register_file_format
from deadheat.core.io.ids import check_ids_of_row
from deadheat.core.io.kinds import VALUE_COLUMN, Kind
from deadheat.core.io.objects import read_text
from deadheat.core.io.results import Listing
from deadheat.core.io.values import read_value
from deadheat.core.io.writing import Compression, value_as_text, write_text
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures.base import Measure
from deadheat.core.measures.families import CutMeasure, JointMeasure, SumMeasure
from deadheat.core.measures.notation import parse_measure
from deadheat.core.measures.parameters import COUNT, FLAG, Choice, Number, parameter
from deadheat.core.measures.registration import register as register_measure
from deadheat.core.measures.top import RelevanceMeasure
from deadheat.core.measures.weighted import GainMeasure, WeightedMeasure
from deadheat.core.placements.place import place
from deadheat.core.placements.placements import Placements
from deadheat.core.plugin_records import Command, FileFormats, MeasureFile, Plugin
from deadheat.core.report.formats import ReportFormat, register as register_report_format
from deadheat.core.report.model import (
    PAGES,
    Column,
    Fact,
    Report,
    prose_fact,
    registers_report as register_report,
    tabulate,
)
from deadheat.core.settings import Settings, setting
from deadheat.core.third_party import third_party_plugins
from deadheat.plugins.conformance.failure import CheckFailedError
from deadheat.plugins.conformance.measure import check_measure
from deadheat.plugins.conformance.reader import check_reader

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
