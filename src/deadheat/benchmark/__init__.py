"""bench(): retrievers on labelled cases, compared; a folder of results that an interruption does not cost."""

from deadheat.benchmark._bench import bench
from deadheat.benchmark._report import data_of_bench, report_bench
from deadheat.benchmark._result import BenchResult, Key

__all__ = ["BenchResult", "Key", "bench", "data_of_bench", "report_bench"]
