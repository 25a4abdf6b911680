"""docs/paper_map.md is what its generator writes, leaves out nothing of the paper, and names only what exists."""

import functools
import importlib.util
import inspect
import re
import sys
import types
from collections import Counter
from pathlib import Path

import click
import pytest

from cutline import theory

DOCS = Path(__file__).parents[2] / "docs"
NUMBERED = {
    "Equation": 34,
    "Theorem": 2,
    "Lemma": 11,
    "Proposition": 5,
    "Corollary": 1,
    "Remark": 1,
    "Algorithm": 1,
    "Figure": 3,
    "Table": 1,
}
HELPERS = ("cutline.theory.checks.", "cutline.theory.stairs.")
APART = ("cutline.theory.static_optimum.", "cutline.theory.concentration.log_dyadic_factor")


def load_generator() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("paper_map", DOCS / "paper_map.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


paper_map = load_generator()
ITEMS = paper_map.read_items()
FUNCTIONS = paper_map.theory_functions()
PLACES = paper_map.places(ITEMS, FUNCTIONS)


def test_the_page_is_what_the_generator_writes_today() -> None:
    assert (DOCS / "paper_map.md").read_text(encoding="utf-8") == paper_map.render()


@pytest.mark.parametrize("kind", NUMBERED)
def test_every_number_of_the_paper_is_listed_once_and_in_order(kind: str) -> None:
    found = [re.fullmatch(rf"{kind} \(?(\d+)\)?(\([ab]\))?", item["name"]) for item in ITEMS]
    numbers = [(int(match.group(1)), match.group(2)) for match in found if match]
    assert list(dict.fromkeys(number for number, _ in numbers)) == list(range(1, NUMBERED[kind] + 1))
    assert max(Counter(numbers).values()) == 1


def test_every_item_is_mapped_to_something() -> None:
    assert [name for name, places in PLACES.items() if not places] == []


@pytest.mark.parametrize("place", sorted({place for places in PLACES.values() for place in places}))
def test_every_place_that_the_page_names_leads_to_what_has_that_name(place: str) -> None:
    found = paper_map.resolve(place)
    found = found.func if isinstance(found, functools.cached_property) else found
    if isinstance(found, click.Command):
        assert f"cutline {found.name}" == place
    elif inspect.ismodule(found):
        assert found.__name__ == place
    elif isinstance(found, (types.FunctionType, type)):
        assert f"{found.__module__}.{found.__qualname__}" == place
    else:  # a constant, which does not know its name: the module says it
        module, _, name = place.rpartition(".")
        assert vars(sys.modules[module])[name] is found


@pytest.mark.parametrize("place", ["cutline.theory.bounds.no_such", "cutline.no_such", "cutline no-such-command"])
def test_a_place_that_does_not_exist_is_noticed(place: str) -> None:
    with pytest.raises(LookupError):
        paper_map.resolve(place)


def test_every_function_of_the_theory_names_its_source() -> None:
    silent = [name for name, sources in FUNCTIONS.items() if not sources and not name.startswith(HELPERS)]
    assert silent == []


def test_a_step_of_a_proof_belongs_to_an_item_that_exists() -> None:
    names = {item["name"] for item in ITEMS}
    assert {item["step_of"] for item in ITEMS if "step_of" in item} <= names


def test_every_function_with_a_source_can_be_had_from_the_package() -> None:
    names = {name.rpartition(".")[2] for name, sources in FUNCTIONS.items() if sources and not name.startswith(APART)}
    assert names == set(theory.__all__)
    assert all(callable(getattr(theory, name)) for name in theory.__all__)
