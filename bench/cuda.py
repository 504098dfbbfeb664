"""`evaluate_dense` on a CUDA tensor, beside one sum over its scores: ``python -m bench.cuda`` where a GPU is at hand.

Nobody has run this on a GPU yet: what it prints there belongs into RESULTS.md. It needs PyTorch and the extra "dense".
``--device cpu`` tries the script itself.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

N_QUERIES = 64  # rows of a batch
N_ITEMS = 1_000_000
N_RELEVANT = 3  # items of each query
N_TIMES = 20
MEASURES = ("nDCG@10", "RR")


def main() -> None:
    """Print the seconds of an evaluation and of a sum, their ratio, and that the values are those of NumPy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--items", type=int, default=N_ITEMS)
    arguments = parser.parse_args()

    import numpy as np
    import torch

    import deadheat as dh

    generator = torch.Generator(device=arguments.device).manual_seed(23)
    scores = torch.randn((N_QUERIES, arguments.items), generator=generator, device=arguments.device)
    rng = np.random.default_rng(23)
    relevant = [rng.choice(arguments.items, N_RELEVANT, replace=False).tolist() for _ in range(N_QUERIES)]

    found = dh.evaluate_dense(scores, relevant, MEASURES).means()
    expected = dh.evaluate_dense(scores.cpu().numpy(), relevant, MEASURES).means()
    assert found == expected, (found, expected)

    def wait() -> None:
        """Wait for the device, which returns before its work is done."""
        if arguments.device != "cpu":
            torch.cuda.synchronize()

    evaluation = _seconds(lambda: dh.evaluate_dense(scores, relevant, MEASURES).means(), wait)
    one_sum = _seconds(scores.sum, wait)
    device = "CPU" if arguments.device == "cpu" else torch.cuda.get_device_name()
    print(f"{device}: {N_QUERIES} x {arguments.items:,} float32 scores, {N_RELEVANT} relevant a query")
    print(f"evaluate_dense {evaluation:.6f} s, one sum {one_sum:.6f} s: {evaluation / one_sum:.2f} times")


def _seconds(work: Callable[[], Any], wait: Callable[[], None]) -> float:
    """Return the median of the seconds that some work takes; the first time is not counted."""
    taken = []
    for _ in range(N_TIMES + 1):
        wait()
        begin = time.perf_counter()
        work()
        wait()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken[1:])


if __name__ == "__main__":
    main()
