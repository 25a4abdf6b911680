"""The kernel cache: an entry is never used for other code, and its folder may be anywhere or nowhere."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import cutline
from cutline import LSA, Uniform
from cutline.compiled import compile_plain, fingerprint, made_once, with_parameters
from cutline.simulation.stepping import stepping_kernel
from surroundings import PATIENCE

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


def functions(source: str) -> dict[str, object]:
    namespace: dict[str, object] = {"__name__": "policy_of_a_user"}
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


def test_plain_functions_are_compiled_with_all_that_they_call() -> None:
    index = compile_plain(functions(INDEX)["index"])
    assert index(4.0, 3.0, 0.5) == (0.25 * 2.0 + 3.0) + 1.0 + 1.0
    assert compile_plain(LSA.index)(4.0, 3.0, 0.5, 1.35) == LSA.index(4.0, 3.0, 0.5, 1.35)


def test_an_index_takes_its_parameters_from_the_row_of_its_arm() -> None:
    table = np.array([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])
    for count in range(4):
        names = "".join(f", p{place}" for place in range(count))
        terms = "".join(f" + p{place}" for place in range(count))
        for leading, source in ((3, "x, y, z"), (5, "x, y, z, u, v")):
            function = functions(f"def index({source}{names}): return x{terms}")["index"]
            call = with_parameters(function, leading)
            for arm in (0, 1):
                assert call(*[0.5] * leading, arm, table) == 0.5 + table[arm, :count].sum()


def test_more_than_three_parameters_are_refused() -> None:
    function = functions("def index(x, y, z, a, b, c, d): return x")["index"]
    with pytest.raises(TypeError, match="index takes 4 parameters; an index has at most 3"):
        with_parameters(function, 3)


PROGRAM = """
import json, sys
import cutline, numpy
from cutline.simulation.chunks import Chunk
from cutline.simulation.engines import play
from cutline.simulation.stepping import stepping_kernel
chunk = Chunk(cutline.Problem([0.3, 0.6]), cutline.Uniform(), numpy.array([10, 50]), key=1, first_run=0, runs=20)
result = play(chunk, "stepping")
kernel = stepping_kernel(cutline.Uniform)
cache = kernel._cache
print(json.dumps({
    "errors": result.errors.tolist(),
    "hits": sum(kernel.stats.cache_hits.values()),
    "misses": sum(kernel.stats.cache_misses.values()),
    "fingerprint": cache._fingerprint,
    "file": cutline.__file__,
}))
"""


def run(folder: Path, program: str = PROGRAM, **environment: str) -> subprocess.Popen[str]:
    """Start a program on the copy of cutline in a folder."""
    settings = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> dict[str, object]:
    out, talk = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, talk
    assert talk == ""
    return json.loads(out)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of cutline and nothing compiled."""
    shutil.copytree(
        Path(cutline.__file__).parent, tmp_path / "cutline", ignore=shutil.ignore_patterns("__pycache__", "data")
    )
    return tmp_path


@pytest.mark.compile
def test_a_second_process_loads_what_the_first_compiled_until_the_index_changes(copied: Path) -> None:
    first = answer(run(copied))
    assert str(first["file"]).startswith(str(copied))
    assert (first["hits"], first["misses"]) == (0, 1)
    second = answer(run(copied))
    assert (second["hits"], second["misses"]) == (1, 0)
    assert second["errors"] == first["errors"]
    assert second["fingerprint"] == first["fingerprint"]

    shared = copied / "cutline" / "policies" / "policy.py"
    stepping = copied / "cutline" / "simulation" / "stepping.py"
    before = stepping.stat().st_mtime_ns
    text = shared.read_text(encoding="utf-8")
    assert text.count("return total / pulls >= threshold") == 1
    shared.write_text(
        text.replace("return total / pulls >= threshold", "return total / pulls < threshold"), encoding="utf-8"
    )
    changed = answer(run(copied))
    assert stepping.stat().st_mtime_ns == before
    assert (changed["hits"], changed["misses"]) == (0, 1)
    assert changed["fingerprint"] != first["fingerprint"]
    flipped = 2 - np.array(first["errors"])
    assert changed["errors"] == flipped.tolist()


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


KERNEL = """
from cutline.compiled import jit, kernel

@jit
def square(x):
    return x * x

@kernel
def step(x):
    return square(x) + 1.0
"""

SMALL_PROGRAM = """
import json
from kernel_of_a_user import step
answer = step(3.0)
print(json.dumps({"answer": answer, "hits": sum(step.stats.cache_hits.values())}))
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with a kernel that is compiled quickly."""
    (tmp_path / "kernel_of_a_user.py").write_text(KERNEL, encoding="utf-8")
    return tmp_path


TAKES_A_TUPLE = """
from typing import NamedTuple
from cutline.compiled import kernel

class Pair(NamedTuple):
    {fields}

@kernel
def difference(pair):
    return pair.first - pair.second
"""

GIVES_A_TUPLE = """
import json
from kernel_of_a_user import Pair, difference
answer = difference(Pair(first=5.0, second=3.0))
print(json.dumps({"answer": answer, "hits": sum(difference.stats.cache_hits.values())}))
"""


@pytest.mark.compile
def test_a_kernel_is_compiled_anew_when_fields_of_a_tuple_that_it_takes_are_swapped(tmp_path: Path) -> None:
    fields = ["first: float", "second: float"]
    for order, hits in ((fields, 0), (fields, 1), (fields[::-1], 0)):
        text = TAKES_A_TUPLE.format(fields="\n    ".join(order))
        (tmp_path / "kernel_of_a_user.py").write_text(text, encoding="utf-8")
        assert answer(run(tmp_path, GIVES_A_TUPLE)) == {"answer": 2.0, "hits": hits}


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def with_zeros_in_the_middle(content: bytes) -> bytes:
    third = len(content) // 3
    return content[:third] + bytes(third) + content[2 * third :]


@pytest.mark.compile
@pytest.mark.parametrize("damage", [lambda content: b"", half, with_zeros_in_the_middle, lambda content: b"x" * 5000])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_kernel_is_compiled_anew_where_a_file_of_the_cache_is_damaged(
    small: Path, kind: str, damage: Callable[[bytes], bytes]
) -> None:
    assert answer(run(small, SMALL_PROGRAM)) == {"answer": 10.0, "hits": 0}
    (file,) = small.rglob(f"*.{kind}")
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert answer(run(small, SMALL_PROGRAM)) == {"answer": 10.0, "hits": 0}
    assert answer(run(small, SMALL_PROGRAM)) == {"answer": 10.0, "hits": 1}


TWO_KINDS = """
import json
from kernel_of_a_user import step
answer = [step(3.0), step(3)]
print(json.dumps({"answer": answer, "hits": sum(step.stats.cache_hits.values())}))
"""


@pytest.mark.compile
def test_machine_code_under_another_ones_name_is_not_run(small: Path) -> None:
    """As where two processes compiled one kernel for two types at the same time."""
    assert answer(run(small, TWO_KINDS)) == {"answer": [10.0, 10.0], "hits": 0}
    first, second = sorted(small.rglob("*.nbc"))
    first.write_bytes(second.read_bytes())
    assert answer(run(small, TWO_KINDS)) == {"answer": [10.0, 10.0], "hits": 1}


CUT_SHORT = """
import builtins, io
class Disk(io.FileIO):
    def write(self, content):
        super().write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")
open_really = builtins.open
builtins.open = lambda path, *args, **named: Disk(path, "w") if ".nb" in str(path) and "wb" in args else (
    open_really(path, *args, **named)
)
"""


@pytest.mark.compile
def test_a_file_that_could_not_be_written_whole_is_not_there(small: Path) -> None:
    for _ in range(2):
        assert answer(run(small, CUT_SHORT + SMALL_PROGRAM)) == {"answer": 10.0, "hits": 0}
    assert not list(small.rglob("*.nb*"))
    assert answer(run(small, SMALL_PROGRAM)) == {"answer": 10.0, "hits": 0}


@pytest.mark.compile
def test_two_processes_may_compile_the_same_kernel_at_the_same_time(small: Path) -> None:
    together = [run(small, SMALL_PROGRAM) for _ in range(2)]
    assert [answer(process)["answer"] for process in together] == [10.0, 10.0]
    assert answer(run(small, SMALL_PROGRAM)) == {"answer": 10.0, "hits": 1}


NOWHERE = """
import numba.core.caching as caching
def refuse(self, *args, **kwargs):
    raise PermissionError(13, "Permission denied")
caching._CacheLocator.ensure_cache_path = refuse
"""

FULL = """
import numba.core.caching as caching
def refuse(self, *args, **kwargs):
    raise OSError(28, "No space left on device")
caching.IndexDataCacheFile._open_for_write = refuse
"""


@pytest.mark.compile
@pytest.mark.parametrize("trouble", [NOWHERE, FULL], ids=["no folder to write to", "a full disk"])
def test_without_a_place_for_the_cache_it_is_compiled_in_every_process(small: Path, trouble: str) -> None:
    for _ in range(2):
        assert answer(run(small, trouble + SMALL_PROGRAM)) == {"answer": 10.0, "hits": 0}
    assert not list(small.rglob("*.nb?"))


@pytest.mark.compile
def test_the_cache_goes_where_numba_is_told_to_put_it(small: Path) -> None:
    where = {"NUMBA_CACHE_DIR": str(small / "cache")}
    assert [answer(run(small, SMALL_PROGRAM, **where))["hits"] for _ in range(2)] == [0, 1]
    assert len(list((small / "cache").rglob("*.nbi"))) == len(list(small.rglob("*.nbi"))) == 1


@pytest.mark.compile
def test_this_process_has_the_fingerprint_that_any_process_computes(tmp_path: Path) -> None:
    other = answer(run(tmp_path))
    assert other["fingerprint"] == stepping_kernel(Uniform)._cache._fingerprint
