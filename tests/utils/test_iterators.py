"""A function that reads a list twice refuses an iterator, which would be empty the second time.

Nobody lists these functions: whatever says in its signature that it takes a sequence is called with an iterator.
"""

import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Callable, Iterator, Sequence

import pytest

import utils
from utils.training import EpochBatches

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

#: Modules that have tests of their own, or take what a command, a run or a figure has made.
ELSEWHERE = (
    "utils.__main__",
    "utils.checks",
    "utils.corpus",
    "utils.exercises",
    "utils.figures",
    "utils.translator.commands",
    "utils.translator.training",
    "utils.translator.using.evaluation",
)


def takes_a_list(annotation: object) -> bool:
    parts = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else [annotation]
    return any(typing.get_origin(part) is Sequence or part is EpochBatches for part in parts)


def functions(module: types.ModuleType) -> Iterator[Callable]:
    """The public functions of a module, and the public methods of its classes."""
    for name, thing in vars(module).items():
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__:
            yield from filter(inspect.isfunction, [thing])
            for method, function in vars(thing).items() if inspect.isclass(thing) else ():
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield function


LISTS = [
    pytest.param(function, name, id=f"{module.name[6:]}.{function.__qualname__} {name}")
    for module in pkgutil.walk_packages(utils.__path__, "utils.")
    if not module.name.startswith(ELSEWHERE)
    for function in functions(importlib.import_module(module.name))
    for name, parameter in inspect.signature(function).parameters.items()
    if takes_a_list(parameter.annotation)
]


@pytest.mark.parametrize(("function", "name"), LISTS)
def test_an_iterator_is_refused_by_name(function, name):
    """Before anything else is looked at: every other argument is an empty list, or stands for nothing."""
    arguments = {
        other: [] if takes_a_list(parameter.annotation) else None
        for other, parameter in inspect.signature(function).parameters.items()
        if parameter.default is inspect.Parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    }
    with pytest.raises(ValueError, match=rf"{name}(\[\d+\])? must be a list, got generator, which can be"):
        function(**arguments | {name: (item for item in [])})


def test_the_places_are_found():
    assert len(LISTS) > 20
