"""The fields of a measure are its parameters: what can be given, what compares equal, and that nothing changes them."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass, fields, replace

import numpy as np
import pytest

import deadheat
from deadheat import AP, MAP, RBP, RR, Custom, Measure, P, Placements, evaluate, measures, parse_measure, register
from deadheat.api import FloatArray, Number, parameter
from deadheat.core.measures.base import MeasureType
from deadheat.core.measures.registration import ALIASES, REGISTRY
from deadheat.core.measures.top import CutTopMeasure
from deadheat.errors import MeasureError
from support.error_parts import raises_parts

EVERY = sorted(measures().values(), key=repr)


@pytest.fixture
def own_measures() -> Iterator[None]:
    """Forget what a test registers."""
    known, aliases = measures(), dict(ALIASES)
    yield
    for registry, before in ((REGISTRY, known), (ALIASES, aliases)):
        registry.clear()
        registry.update(before)  # type: ignore[arg-type]  # each has its own before


@pytest.mark.parametrize("measure", EVERY, ids=repr)
def test_of_each_measure(measure: type[Measure]) -> None:
    made = measure()
    assert made == measure()
    assert hash(made) == hash(measure())
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == replace(made) == made  # noqa: S301 - made here
    shown = inspect.signature(measure).parameters
    assert {name: one.default for name, one in shown.items()} == {one.name: one.default for one in fields(made)}
    for name in (*shown, "another"):
        with pytest.raises(FrozenInstanceError):
            setattr(made, name, 1)
        with pytest.raises(FrozenInstanceError):
            delattr(made, name)


def test_measures_differ_by_class_and_by_parameters() -> None:
    assert len({measure() for measure in EVERY}) == len(EVERY)
    assert RBP(p=0.5) != RBP()
    assert RBP(p=0.8) == RBP()
    assert RR() != "RR"
    assert MAP() == AP()


def test_the_signature_is_that_of_the_parameters() -> None:
    parameters = inspect.signature(RBP).parameters.values()
    shown = [str(one).replace("'", "") for one in parameters]
    assert shown[:4] == ["cutoff: int | None = None", "p: float = 0.8", "rel: float = 1", "graded: bool = False"]
    assert {one.kind for one in parameters} == {inspect.Parameter.KEYWORD_ONLY}
    assert str(inspect.signature(MAP)) == str(inspect.signature(AP))
    assert [*inspect.signature(Custom).parameters][:2] == ["name", "function"]


@pytest.mark.usefixtures("own_measures")
def test_a_measure_of_ones_own_has_parameters_with_and_without_the_head_of_a_dataclass() -> None:
    @register("without")
    class Plain(RR):
        """Without."""

        weight: float = parameter(2, Number(low=0), "how much it counts")

    @register("with")
    @dataclass(frozen=True, kw_only=True, repr=False)
    class Headed(RR):
        """With."""

        weight: float = parameter(2, Number(low=0), "how much it counts")

    for measure in (Plain, Headed):
        assert [one.name for one in fields(measure)] == [*(one.name for one in fields(RR)), "weight"]
        assert str(measure(weight=3) @ 10) == f"{measure.__name__}(weight=3)@10"
        assert measure(weight=3) == measure(weight=3) != measure()
        assert hash(measure(weight=3)) == hash(measure(weight=3))
        with pytest.raises(ValueError, match="weight"):
            measure(weight=-1)
        with pytest.raises(FrozenInstanceError):
            measure().weight = 5  # type: ignore[misc]  # this is what must not be


@pytest.mark.usefixtures("own_measures")
def test_a_class_that_is_registered_again_is_the_measure_of_its_name() -> None:
    """As where a cell of a notebook is corrected and run again."""

    def registered(divisor: float) -> type[Measure]:
        @register("mine")
        class Mine(CutTopMeasure):
            def divisor(self, placements: Placements) -> FloatArray:
                return np.full(placements.n_queries, divisor)

        return Mine

    for divisor in (5, 500):
        own = registered(divisor)
        found = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "Mine@3")
        assert found.means() == {"Mine@3": 1 / divisor}
        assert parse_measure("Mine@3") == own @ 3


@pytest.mark.usefixtures("own_measures")
@pytest.mark.parametrize(("name", "known"), [("P", "top.P"), ("MAP", "average.AP"), ("ndcg", "discounted.nDCG")])
def test_a_name_stands_for_one_measure(name: str, known: str) -> None:
    """Else "P@5" would be another measure than P @ 5."""
    own: type[Measure] = MeasureType(name, (RR,), {"__module__": __name__})  # type: ignore[assignment]  # it is one
    with raises_parts(MeasureError, f"is taken by .*{known}", measure=name):
        register("mine")(own)
    assert parse_measure(f"{name}@5") == measures()[known.split(".")[1]] @ 5


@pytest.mark.slow
@pytest.mark.plugins
def test_the_list_of_measures_is_there_whatever_was_imported() -> None:
    code = "import deadheat as dh; print(dh.RBP(p=0.9) @ 10, dh.measures()['RR'], dh.RR)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["RBP(p=0.9)@10", "RR", "RR"]
    for name in ("a.b", "measures.b", "a b", ""):
        assert not hasattr(deadheat, name)


OWN = "import deadheat as dh\n@dh.register('mine'{arguments})\nclass {name}(dh.P): pass"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "taken"),
    [
        ("ERR", "", "ERR"),
        ("MERR", "", "ERR"),
        ("Mine", ", aliases=('nERR',)", "nERR"),
        ("Mine", ", aliases=('MERR',)", "ERR"),
    ],
)
def test_names_of_measures_that_were_not_read_are_taken_as_well(name: str, arguments: str, taken: str) -> None:
    """A file of measures is read when one of them is asked for."""
    code = OWN.format(name=name, arguments=arguments)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert re.search(rf"MeasureError: .* taken by .*{taken}\b", done.stderr.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        *("nerr@5", "MERR", "rbp_resid", "recip_rank", "ndcg_cut_10", "mean average recall"),
        pytest.param("11pt_avg", marks=pytest.mark.plugins("more_measures")),
    ],
)
def test_a_name_means_the_same_whatever_was_read_before(text: str) -> None:
    code = f"import deadheat as dh; print(repr(dh.parse_measure({text!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr(parse_measure(text))


def test_ap_over_k_needs_a_cutoff() -> None:
    with raises_parts(MeasureError, "norm='k' needs a cutoff", measure="AP"):
        parse_measure("AP(norm='k')")
    assert (AP @ 10)(norm="k") == AP(norm="k", cutoff=10) == parse_measure("AP(norm='k')@10")
    assert evaluate({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, "AP(norm='k')@4").means() == {"AP(norm='k')@4": 0.125}


def test_documents_from_rel_on_are_relevant() -> None:
    """Measures that list orders see these codes alone, and sum them."""
    relevance = np.array([-1.0, 0.0, 1.0, 2.0, 3.0, np.nan])
    assert P(rel=2).codes(relevance).tolist() == [0, 0, 0, 1, 1, 0]
