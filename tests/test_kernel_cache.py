"""The kernel cache: an entry is never used for other code, and its folder may be anywhere or nowhere."""

import builtins
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from numba.core import caching, config

import cutline
from cutline import Uniform
from cutline.compiled import fingerprint
from cutline.simulation.stepping import stepping_kernel
from surroundings import PATIENCE

pytestmark = pytest.mark.compile

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


def begin(folder: Path, program: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start a program in a folder, on the copy of cutline there if there is one."""
    settings = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=settings,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, program: str = PROGRAM, *arguments: str, **environment: str) -> dict[str, Any]:
    """Run a program in a folder and return the dictionary that it prints."""
    with begin(folder, program, *arguments, **environment) as process:
        return answer(process)


def answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    try:
        out, talk = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, talk) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of cutline and nothing compiled."""
    shutil.copytree(
        Path(cutline.__file__).parent, tmp_path / "cutline", ignore=shutil.ignore_patterns("__pycache__", "data")
    )
    return tmp_path


def test_a_second_process_loads_what_the_first_compiled_until_the_index_changes(copied: Path) -> None:
    first = run(copied)
    assert str(first["file"]).startswith(str(copied))
    assert (first["hits"], first["misses"]) == (0, 1)
    second = run(copied)
    assert (second["hits"], second["misses"]) == (1, 0)
    assert second["errors"] == first["errors"]
    assert second["fingerprint"] == first["fingerprint"]

    shared = copied / "cutline" / "threshold.py"
    stepping = copied / "cutline" / "simulation" / "stepping.py"
    before = stepping.stat().st_mtime_ns
    text = shared.read_text(encoding="utf-8")
    assert text.count("return total / pulls >= threshold") == 1
    shared.write_text(
        text.replace("return total / pulls >= threshold", "return total / pulls < threshold"), encoding="utf-8"
    )
    changed = run(copied)
    assert stepping.stat().st_mtime_ns == before
    assert (changed["hits"], changed["misses"]) == (0, 1)
    assert changed["fingerprint"] != first["fingerprint"]
    flipped = 2 - np.array(first["errors"])
    assert changed["errors"] == flipped.tolist()


SEVERAL = """
import json, sys
import cutline, numpy
from cutline.simulation.chunks import Chunk
from cutline.simulation.engines import play
problem = cutline.Problem([0.5, 0.0, 0.6])
chunks = [Chunk(problem, cutline.parse(name), numpy.array([500]), key=1, first_run=0, runs=40) for name in sys.argv[1:]]
print(json.dumps({chunk.policy.name: play(chunk, "stepping").errors.tolist() for chunk in chunks}))
"""


def test_kernels_cached_by_separate_processes_do_not_mix_in_one(tmp_path: Path) -> None:
    where = {"NUMBA_CACHE_DIR": str(tmp_path)}
    alone = run(tmp_path, SEVERAL, "LSA", **where) | run(tmp_path, SEVERAL, "APT(0)", **where)
    assert run(tmp_path, SEVERAL, "LSA", "APT(0)", **where) == alone
    assert alone["LSA"] != alone["APT"]


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


def step_of(folder: Path) -> Any:
    """The kernel as a process has it that begins: all that it knows of earlier ones is on disk."""
    path = folder / "kernel_of_a_user.py"
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    return namespace["step"]


def hits_of(folder: Path, *arguments: float, answer: float = 10.0) -> int:
    """Call the kernel with each of the arguments, all 3; say how often its machine code came from the disk."""
    step = step_of(folder)
    assert [step(argument) for argument in arguments] == [answer] * len(arguments)
    return sum(step.stats.cache_hits.values())


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


def test_a_kernel_is_compiled_anew_when_fields_of_a_tuple_that_it_takes_are_swapped(tmp_path: Path) -> None:
    fields = ["first: float", "second: float"]
    for order, hits in ((fields, 0), (fields, 1), (fields[::-1], 0)):
        text = TAKES_A_TUPLE.format(fields="\n    ".join(order))
        (tmp_path / "kernel_of_a_user.py").write_text(text, encoding="utf-8")
        assert run(tmp_path, GIVES_A_TUPLE) == {"answer": 2.0, "hits": hits}


def test_a_kernel_is_compiled_anew_when_a_function_that_stands_below_it_changes(tmp_path: Path) -> None:
    imports, block, own = KERNEL.partition("@jit\n")[0], *KERNEL[KERNEL.index("@jit\n") :].split("@kernel\n")
    for power, answer, hits in (("x * x", 10.0, 0), ("x * x", 10.0, 1), ("x * x * x", 28.0, 0)):
        text = f"{imports}@kernel\n{own}\n{block.replace('x * x', power)}"
        (tmp_path / "kernel_of_a_user.py").write_text(text, encoding="utf-8")
        assert hits_of(tmp_path, 3.0, answer=answer) == hits


FROM_A_MODULE_THAT_NOBODY_CAN_IMPORT = SMALL_PROGRAM.replace(
    "from kernel_of_a_user import step",
    "import runpy; step = runpy.run_path('kernel_of_a_user.py', run_name='nowhere_to_be_found')['step']",
)


@pytest.mark.process
def test_a_kernel_of_a_module_that_cannot_be_imported_is_compiled_in_every_process(small: Path) -> None:
    assert run(small, FROM_A_MODULE_THAT_NOBODY_CAN_IMPORT) == {"answer": 10.0, "hits": 0}
    assert run(small, FROM_A_MODULE_THAT_NOBODY_CAN_IMPORT) == {"answer": 10.0, "hits": 0}


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def with_zeros_in_the_middle(content: bytes) -> bytes:
    third = len(content) // 3
    return content[:third] + bytes(third) + content[2 * third :]


@pytest.mark.parametrize("damage", [lambda content: b"", half, with_zeros_in_the_middle, lambda content: b"x" * 5000])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_kernel_is_compiled_anew_where_a_file_of_the_cache_is_damaged(
    small: Path, kind: str, damage: Callable[[bytes], bytes]
) -> None:
    assert hits_of(small, 3.0) == 0
    (file,) = small.rglob(f"*.{kind}")
    file.write_bytes(damage(file.read_bytes()))
    assert [hits_of(small, 3.0), hits_of(small, 3.0)] == [0, 1]


def test_machine_code_under_another_ones_name_is_not_run(small: Path) -> None:
    """As where two processes compiled one kernel for two types at the same time."""
    assert hits_of(small, 3.0, 3) == 0
    first, second = sorted(small.rglob("*.nbc"))
    first.write_bytes(second.read_bytes())
    assert hits_of(small, 3.0, 3) == 1


class DiskThatFills(io.FileIO):
    """Takes half of what is written."""

    def write(self, content: Any) -> NoReturn:
        super().write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")


def test_a_file_that_could_not_be_written_whole_is_not_there(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open

    def open_disk(path: Any, *arguments: Any, **named: Any) -> Any:
        kept = ".nb" in str(path) and "wb" in arguments
        return DiskThatFills(path, "w") if kept else opened(path, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", open_disk)
        assert hits_of(small, 3.0) == 0
    assert not list(small.rglob("*.nb?"))
    assert hits_of(small, 3.0) == 0


SLOW_TO_SAVE = """
import sys, time
from cutline.kernel_cache import KernelCache
save_at_once = KernelCache.save_overload
def save(self, *arguments):
    time.sleep(1)
    save_at_once(self, *arguments)
KernelCache.save_overload = save
print(flush=True)
sys.stdin.read()
"""


def test_two_processes_that_need_a_kernel_at_the_same_time_compile_it_once(small: Path) -> None:
    """Both are ready to call it before either does, and a second passes before its machine code is on disk."""
    with begin(small, SLOW_TO_SAVE + SMALL_PROGRAM) as one, begin(small, SLOW_TO_SAVE + SMALL_PROGRAM) as other:
        for process in (one, other):
            assert process.stdout is not None
            assert process.stdout.readline() == "\n"
        for process in (one, other):
            assert process.stdin is not None
            process.stdin.close()
            process.stdin = None
        found = [answer(one), answer(other)]
    assert [item["answer"] for item in found] == [10.0, 10.0]
    assert sorted(item["hits"] for item in found) == [0, 1]


@pytest.mark.parametrize(
    ("where", "what", "trouble"),
    [
        (caching._CacheLocator, "ensure_cache_path", PermissionError(13, "Permission denied")),
        (caching.IndexDataCacheFile, "_open_for_write", OSError(28, "No space left on device")),
    ],
    ids=["no folder to write to", "a full disk"],
)
def test_without_a_place_for_the_cache_it_is_compiled_in_every_process(
    small: Path, monkeypatch: pytest.MonkeyPatch, where: type, what: str, trouble: OSError
) -> None:
    def refuse(*arguments: Any, **named: Any) -> None:
        raise trouble

    monkeypatch.setattr(where, what, refuse)
    assert [hits_of(small, 3.0), hits_of(small, 3.0)] == [0, 0]
    assert not list(small.rglob("*.nb?"))


def test_the_cache_goes_where_numba_is_told_to_put_it(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(small / "cache"))  # that of NUMBA_CACHE_DIR
    assert [hits_of(small, 3.0) for _ in range(2)] == [0, 1]
    assert len(list((small / "cache").rglob("*.nbi"))) == len(list(small.rglob("*.nbi"))) == 1


def test_this_process_has_the_fingerprint_that_any_process_computes(tmp_path: Path) -> None:
    other = run(tmp_path)
    kernel: Any = stepping_kernel(Uniform)
    assert other["fingerprint"] == fingerprint(kernel)
