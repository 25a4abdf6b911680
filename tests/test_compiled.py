"""Compiled functions: their fingerprints, and the index of a policy with the parameters of an arm."""

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numba
import numpy as np
import pytest
from numba.core.compiler import Compiler

from cutline import LSA
from cutline.compiled import compile_plain, fingerprint, jit, made_once, with_parameters
from cutline.kernel_blocks import block_compiler
from games import from_python

INDEX = """
import math
from typing import NamedTuple

import numpy as np

LIMIT = 3.0
TABLE = (1.0, 2.0)
NUMBERS = np.array([1.0, 2.0])

class Record(NamedTuple):
    pulls: float
    total: float

def mean_of(record):
    return record.total / record.pulls

def innermost(x, times=2.0):
    return x * times

def helper(x):
    return innermost(x) + LIMIT

def index(pulls, total, threshold):
    return helper(mean_of(Record(pulls, total)) - threshold) + TABLE[0] + NUMBERS[0]
"""


def functions(source: str) -> dict[str, Callable[..., float]]:
    namespace: dict[str, Any] = {"__name__": "policy_of_a_user"}
    exec(compile(source, "policy_of_a_user.py", "exec"), namespace)
    return namespace


def index_fingerprint(source: str) -> str:
    return fingerprint(with_parameters(functions(source)["index"], 3))


def test_the_same_code_has_the_same_fingerprint_each_time_it_is_loaded() -> None:
    assert index_fingerprint(INDEX) == index_fingerprint(INDEX) == index_fingerprint(INDEX.replace("import math\n", ""))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" - threshold", " + threshold"),
        ("TABLE[0] + NUMBERS[0]", "TABLE[0] + 2 * NUMBERS[0]"),
        ("helper(mean_of", "innermost(mean_of"),
        ("return innermost(x) + LIMIT", "return innermost(x) - LIMIT"),
        ("return x * times", "return x / times"),
        ("times=2.0", "times=3.0"),
        ("LIMIT = 3.0", "LIMIT = 4.0"),
        ("TABLE = (1.0, 2.0)", "TABLE = (1.5, 2.0)"),
        ("np.array([1.0, 2.0])", "np.array([1.0, 2.5])"),
        ("    pulls: float\n    total: float\n", "    total: float\n    pulls: float\n"),
    ],
)
def test_any_change_of_what_an_index_reaches_changes_its_fingerprint(old: str, new: str) -> None:
    assert INDEX.count(old) == 1
    assert index_fingerprint(INDEX.replace(old, new)) != index_fingerprint(INDEX)


def test_kernels_of_policies_with_as_many_parameters_have_fingerprints_of_their_own() -> None:
    sources = [
        INDEX.replace("index(pulls, total, threshold)", f"index(pulls, total, threshold, {name})") for name in "ab"
    ]
    sources[1] = sources[1].replace("helper(mean_of", "innermost(mean_of")
    first, second = (with_parameters(functions(source)["index"], 3) for source in sources)

    def both(x: float) -> float:
        return first(x) + second(x)

    def twice(x: float) -> float:
        return first(x) + first(x)

    assert fingerprint(both) != fingerprint(twice)


@pytest.mark.compile
def test_plain_functions_are_compiled_with_all_that_they_call() -> None:
    index = from_python(compile_plain(functions(INDEX)["index"]), kept=False)
    assert index(4.0, 3.0, 0.5) == (0.25 * 2.0 + 3.0) + 1.0 + 1.0
    assert from_python(compile_plain(LSA.index))(4.0, 3.0, 0.5, 1.35) == LSA.index(4.0, 3.0, 0.5, 1.35)


def test_a_building_block_refuses_to_be_called_by_python() -> None:
    index = compile_plain(functions(INDEX)["index"])
    for _ in range(2):
        with pytest.raises(TypeError, match="index is compiled for kernels; only compiled code can call it"):
            index(4.0, 3.0, 0.5)
        assert from_python(index, kept=False)(4.0, 3.0, 0.5) == (0.25 * 2.0 + 3.0) + 1.0 + 1.0


@pytest.mark.compile
def test_an_index_takes_its_parameters_from_the_row_of_its_arm() -> None:
    table = np.array([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])
    for count in range(4):
        names = "".join(f", p{place}" for place in range(count))
        terms = "".join(f" + p{place}" for place in range(count))
        for leading, source in ((3, "x, y, z"), (5, "x, y, z, u, v")):
            function = functions(f"def index({source}{names}): return x{terms}")["index"]
            call = from_python(with_parameters(function, leading), kept=False)
            for arm in (0, 1):
                assert call(*[0.5] * leading, arm, table) == 0.5 + table[arm, :count].sum()


def test_more_than_three_parameters_are_refused() -> None:
    function = functions("def index(x, y, z, a, b, c, d): return x")["index"]
    with pytest.raises(TypeError, match="index takes 4 parameters; an index has at most 3"):
        with_parameters(function, 3)


def test_threads_that_ask_at_once_get_one_and_the_same_function() -> None:
    """Of two equal copies a kernel could get parts of both; it would be compiled anew whenever that happens."""
    made = []

    @made_once
    def factory(power: int) -> object:
        time.sleep(0.05)
        made.append(power)
        return object()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(factory, [2, 3] * 4))
    assert sorted(made) == [2, 3]
    assert len(set(answers)) == 2
    assert answers[0] is answers[2]


def test_a_building_block_is_code_of_the_kernel_that_calls_it_and_has_no_machine_code_of_its_own() -> None:
    @jit
    def root(x: float) -> float:
        if x < 0.0:
            raise ValueError("below 0")
        return math.sqrt(x)

    call, block = from_python(root, kept=False), cast(Any, root)
    assert call(9.0) == 3.0
    with pytest.raises(ValueError, match="below 0"):
        call(-1.0)
    (compiled,) = block.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0


def test_building_blocks_are_compiled_as_numba_does_where_its_version_was_not_tried() -> None:
    assert block_compiler((0, 69)) is block_compiler((1, 0)) is Compiler

    def twice(x: float) -> float:
        return 2 * x

    results = []
    for version in [(0, 68), (0, 69)]:
        block = numba.njit(twice, pipeline_class=block_compiler(version))
        results.append(numba.njit(lambda x, block=block: block(x) + 1)(3.0))
    assert results == [7.0, 7.0]
