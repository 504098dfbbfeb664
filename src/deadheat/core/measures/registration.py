"""Which measures there are: each is registered by the name of its class and by other names.

A file of measures is read when a measure of it is asked for by the name of its class (`load_measure`). For any other
name all files are read (`load_measures`), and before somebody's own measure is registered, whose name may be taken.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeVar, cast, dataclass_transform

from deadheat.core import hooks, third_party
from deadheat.core.errors import MeasureError
from deadheat.core.measures.base import Measure, MeasureType
from deadheat.core.measures.parameters import parameters

M = TypeVar("M", bound=type[Measure])
REGISTRY: dict[str, type[Measure]] = {}  # those that were read
ALIASES: dict[str, str] = {}  # from another name to the name of the class
PRESETS: dict[str, Mapping[str, Any]] = {}  # from another name to the parameters that it implies


@dataclass_transform(kw_only_default=True, frozen_default=True)
def register(
    title: str,
    formula: str = "",
    *,
    aliases: tuple[str, ...] = (),
    trec_eval: tuple[str, ...] = (),
    presets: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    range: tuple[float, float] | None = None,  # noqa: A002 - as `Measure` has it
    higher_is_better: bool | None = None,
    total: bool | None = None,
    only_total: bool | None = None,
    is_quality: bool | None = None,
    at: str | None = None,
) -> Callable[[M], M]:
    """Make a measure known by the name of its class and by other names, and its fields its parameters.

    A class that is defined again, as in a notebook, takes the place of the earlier one; no other may have its name.

    Parameters
    ----------
    title, formula, aliases, trec_eval, presets
        As `Measure` has them; they are not inherited.
    range, higher_is_better, total, only_total, is_quality, at : optional
        As `Measure` has them, by default those of the class that it is made from.
    """
    _check_is_tuple("aliases", aliases)
    _check_is_tuple("trec_eval", trec_eval)
    attributes: dict[str, object] = {
        "title": title,
        "formula": formula,
        "aliases": aliases,
        "trec_eval": trec_eval,
        "presets": presets,
    }
    inherited: dict[str, object] = {
        "range": range,
        "higher_is_better": higher_is_better,
        "total": total,
        "only_total": only_total,
        "is_quality": is_quality,
        "at": at,
    }
    for name, value in inherited.items():
        if value is not None:
            attributes[name] = value

    def decorate(measure: M) -> M:
        if not hooks.is_module_of_measures(measure.__module__):
            load_measures()
        _check_name_is_free(measure)
        for name, value in attributes.items():
            setattr(measure, name, value)
        if "__dataclass_fields__" not in vars(measure):  # else the class was decorated as a dataclass
            parameters(measure)
        _check_other_names_are_free(measure)
        REGISTRY[measure.__name__] = measure
        for name in other_names(measure):
            ALIASES[name] = measure.__name__
        PRESETS.update(presets)
        return measure

    return decorate


def _check_is_tuple(argument: str, names: tuple[str, ...]) -> None:
    """Raise for a text, whose letters would be the names."""
    if isinstance(cast("object", names), str):
        raise MeasureError(argument=argument, given=names, allowed="a tuple of names", hint=f"write ({names!r},)")


def _check_name_is_free(measure: type[Measure]) -> None:
    name = ALIASES.get(measure.__name__, measure.__name__)
    owner = REGISTRY.get(name)
    if owner is None:
        return
    if (owner.__module__, owner.__qualname__) == (measure.__module__, measure.__qualname__):
        return  # it is defined again
    raise MeasureError(
        f"its name is taken by {owner.__module__}.{owner.__qualname__}",
        measure=measure.__name__,
        hint="choose another for the class",
    )


def _check_other_names_are_free(measure: type[Measure]) -> None:
    for name in other_names(measure):
        owner = measure.__name__
        if name in REGISTRY:
            owner = name
        elif name in ALIASES:
            owner = ALIASES[name]
        if owner != measure.__name__:
            raise MeasureError(
                f"its other name {name!r} is taken by {owner}", measure=measure.__name__, hint="choose another"
            )


def alias_class(measure: M, name: str) -> M:
    """Return a class that makes the same measures, under another name.

    Examples
    --------
    >>> from deadheat.core.measures import AP, MAP
    >>> (MAP @ 10).label, MAP @ 10, MAP @ 10 == AP @ 10
    ('MAP@10', AP@10, True)
    """
    namespace = {"alias_of": measure, "__module__": measure.__module__, "__doc__": measure.__doc__}
    return MeasureType(name, (measure,), namespace)  # type: ignore[return-value]  # a class of the same kind


def other_names(measure: type[Measure]) -> list[str]:
    """Return the other names by which a measure is read."""
    names = list(measure.aliases)
    for template in measure.trec_eval:
        names.append(template.removesuffix("_{}").removesuffix("_cut"))
    names.extend(measure.presets)
    return [name for name in dict.fromkeys(names) if name != measure.__name__]


def trec_names(measure: type[Measure]) -> list[str]:
    """Return the templates of trec_eval's names of a measure, first that without a cutoff."""
    return sorted(measure.trec_eval, key=lambda name: "{}" in name)


def load_measure(name: str) -> None:
    """Read the file of the measure whose class has a name; all files for any other name."""
    if name in REGISTRY:
        return
    module = hooks.find_module_of_measure(name)
    if module is None:
        load_measures()
    else:
        import_module(module)


def load_measures() -> None:
    """Read the files of all measures, and put these into the order of the registry."""
    hooks.load("measures")
    in_order = hooks.list_measures()
    if tuple(REGISTRY)[: len(in_order)] == in_order:
        return
    later = {name: measure for name, measure in REGISTRY.items() if name not in in_order}
    known = {name: REGISTRY[name] for name in in_order if name in REGISTRY}
    REGISTRY.clear()
    REGISTRY.update(known | later)


def measures() -> dict[str, type[Measure]]:
    """Return the registry: every measure's class by its name.

    Returns
    -------
    dict of str to type

    Examples
    --------
    >>> measures()["RR"].title
    'reciprocal rank'
    """
    load_measures()
    return dict(REGISTRY)


def registered_names() -> set[str]:
    """Return the names and the other names of all measures that are registered."""
    load_measures()
    return {*REGISTRY, *ALIASES}


def forget_module(module: str) -> None:
    """Forget the measures of a module that could not be imported to its end."""
    for name, measure in list(REGISTRY.items()):
        if measure.__module__ == module:
            del REGISTRY[name]
            for other_name in other_names(measure):
                ALIASES.pop(other_name, None)
                PRESETS.pop(other_name, None)


third_party.add_registry("measures", third_party.NamedRegistry("measure", registered_names, forget_module))
