"""Everything that concerns numba: options, the compiling of plain index functions, the kernel cache.

Numba's own file cache knows a function by its file alone; a kernel that calls a policy's index would go on
running the old index after an edit of the policy. Kernels are cached here under a fingerprint of all the
code that they reach, so an entry can be stale only if nothing in it has changed.

Functions made by one factory for several policies have one name. Numba makes linker symbols of names, and of two
cached kernels that are loaded into one process the second would call the functions of the first. So every function is
compiled under a name of its own, which ends in its fingerprint. For the same reason a function must be made once only,
however many threads ask for it (``made_once``): of two equal copies a kernel may get some parts of one and some of the
other, and then it has another fingerprint than any before and is compiled anew.

Numba counts references to arrays, with atomic operations that took longer than the work itself wherever arrays came out
of a tuple in a small function. Building blocks that make no arrays are compiled without (``jit_in_place``).
"""

import hashlib
import io
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.errors import NumbaError

from cutline.errors import InvalidInputError

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False, "fastmath": False}
_OPTIONS_IN_PLACE = {**_OPTIONS, "_nrt": False}
_OPTIONS_INLINED = {**_OPTIONS_IN_PLACE, "forceinline": True}
_MAKING = threading.RLock()


def made_once(factory: F) -> F:
    """Keep what a factory of compiled functions returns, as ``cache`` does; threads that ask meanwhile wait for it."""
    kept = cache(factory)

    @wraps(factory)
    def make(*arguments: Any, **named: Any) -> Any:
        with _MAKING:
            return kept(*arguments, **named)

    return cast(F, make)


def jit(function: F) -> F:
    """Compile a building block of kernels: a function that only compiled code calls."""
    _rename(function)
    compiled: F = numba.njit(**_OPTIONS)(function)
    return compiled


def jit_in_place(function: F) -> F:
    """Compile a building block that makes no arrays: it works in those that it is given."""
    _rename(function)
    compiled: F = numba.njit(**_OPTIONS_IN_PLACE)(function)
    return compiled


def jit_inlined(function: F) -> F:
    """Compile a building block that makes no arrays into whatever calls it, however large it is."""
    _rename(function)
    compiled: F = numba.njit(**_OPTIONS_INLINED)(function)
    return compiled


def kernel(function: F) -> F:
    """Compile a function that Python calls; it releases the GIL, and later processes load it from disk."""
    _rename(function)
    compiled: Any = numba.njit(**_OPTIONS)(function)
    if compiled is not function:  # else numba is switched off
        with suppress(RuntimeError):  # no folder to write to: it is compiled anew in every process
            compiled._cache = _KernelCache(function)
    return cast(F, compiled)


def _rename(function: Callable[..., Any]) -> None:
    function.__qualname__ = f"{function.__qualname__}_{fingerprint(function)[:16]}"


@made_once
def compile_plain(function: Callable[..., R], inlined: bool = False) -> Callable[..., R]:
    """Compile a plain Python function, such as a policy's index, and the plain functions that it calls.

    ``inlined``: as ``jit_inlined`` does; what it calls is left to the compiler.
    """
    namespace = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(namespace.get(name), types.FunctionType):
            namespace[name] = compile_plain(namespace[name])
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    return (jit_inlined if inlined else jit_in_place)(copy)


def with_parameters(function: Callable[..., R], leading: int, inlined: bool = False) -> Callable[..., R]:
    """Compile ``function(x1..xn, *parameters)``, n = ``leading``, to take the parameters as (arm, table).

    ``table`` has shape (K, number of parameters); row ``arm`` is passed on. Numba cannot spread a row over
    arguments, hence the spelled-out cases: 3 to 5 leading arguments, up to 3 parameters. ``inlined`` as in
    ``compile_plain``.
    """
    f = compile_plain(function, inlined)
    parameters = function.__code__.co_argcount - leading
    cases: dict[tuple[int, int], Callable[..., R]] = {
        (3, 0): lambda a, b, c, arm, table: f(a, b, c),
        (3, 1): lambda a, b, c, arm, table: f(a, b, c, table[arm, 0]),
        (3, 2): lambda a, b, c, arm, table: f(a, b, c, table[arm, 0], table[arm, 1]),
        (3, 3): lambda a, b, c, arm, table: f(a, b, c, table[arm, 0], table[arm, 1], table[arm, 2]),
        (4, 0): lambda a, b, c, d, arm, table: f(a, b, c, d),
        (4, 1): lambda a, b, c, d, arm, table: f(a, b, c, d, table[arm, 0]),
        (4, 2): lambda a, b, c, d, arm, table: f(a, b, c, d, table[arm, 0], table[arm, 1]),
        (4, 3): lambda a, b, c, d, arm, table: f(a, b, c, d, table[arm, 0], table[arm, 1], table[arm, 2]),
        (5, 0): lambda a, b, c, d, e, arm, table: f(a, b, c, d, e),
        (5, 1): lambda a, b, c, d, e, arm, table: f(a, b, c, d, e, table[arm, 0]),
        (5, 2): lambda a, b, c, d, e, arm, table: f(a, b, c, d, e, table[arm, 0], table[arm, 1]),
        (5, 3): lambda a, b, c, d, e, arm, table: f(a, b, c, d, e, table[arm, 0], table[arm, 1], table[arm, 2]),
    }
    if (leading, parameters) not in cases:
        raise TypeError(f"{function.__name__} takes {parameters} parameters; an index has at most 3")
    return (jit_inlined if inlined else jit_in_place)(cases[leading, parameters])


@contextmanager
def compiling(what: object) -> Iterator[None]:
    """Raise InvalidInputError, on one line, in the place of what numba says of code that it cannot compile."""
    try:
        yield
    except NumbaError as error:
        lines = [line for line in str(error).splitlines() if line and not line.startswith("Failed in ")] or ["?"]
        where = [line.rstrip(":") for line in lines[1:] if line.startswith("File ")]
        cause = " in ".join([lines[0].rstrip(".:"), *where[:1]])
        raise InvalidInputError(
            f"{what} cannot be compiled: {cause}; it may use numbers, math, and plain functions that do so, too"
        ) from error


class _KernelFiles(IndexDataCacheFile):
    """The files of a kernel: an index of its entries by their keys, and the machine code of each.

    Every file is written under another name and renamed, and ends in a digest of what stands before. One that is
    damaged, as after a crash or a full disk, counts as absent; so does an entry under another key than the one asked
    for, as where two processes took the same name for theirs.
    """

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (key, data))  # type: ignore[no-untyped-call]  # numba has no types

    def load(self, key: Any) -> Any:
        entry = super().load(key)  # type: ignore[no-untyped-call]  # numba has no types
        return entry[1] if entry is not None and entry[0] == key else None

    def _load_index(self) -> Any:
        return super()._load_index() if _is_whole(self._index_path) else {}  # type: ignore[no-untyped-call]  # as above

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)  # type: ignore[no-untyped-call]  # numba has no types
        return super()._load_data(name) if _is_whole(path) else None  # type: ignore[no-untyped-call]  # as above

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())


def _is_whole(path: str) -> bool:
    """Say whether a file can be read and ends in the digest of what stands before."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    size = hashlib.sha256().digest_size
    return hashlib.sha256(content[:-size]).digest() == content[-size:]


class _KernelCache(FunctionCache):
    """Numba's file cache with one set of files per fingerprint, so that processes cannot mix kernels up."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]  # numba has no types
        self._fingerprint = fingerprint(function)
        self._cache_file = _KernelFiles(  # type: ignore[no-untyped-call]  # numba has no types
            cache_path=self._cache_path,
            filename_base=f"{self._impl.filename_base}.{self._fingerprint[:16]}",
            source_stamp=self._fingerprint,
        )

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (sig, _fields_of(sig), codegen.magic_tuple(), self._fingerprint)

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # a full disk or a read-only folder costs time, not the result
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]  # numba has no types


def _fields_of(argument: Any) -> tuple[Any, ...]:
    """Return the names of the fields of NamedTuples among the types of a kernel's arguments, which do not tell them."""
    if not isinstance(argument, (tuple, numba.types.BaseTuple)):
        return ()
    parts: Any = argument
    return (getattr(argument, "fields", ()), *(_fields_of(part) for part in parts))


def fingerprint(function: Callable[..., Any]) -> str:
    """Return a hash of the function's code, of the constants it uses, of every function it reaches, and the options."""
    digest = hashlib.sha256(repr((_OPTIONS, _OPTIONS_IN_PLACE, _OPTIONS_INLINED)).encode())
    for part in _parts(function, set()):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def _parts(item: Any, seen: set[int]) -> Iterator[str]:
    item = getattr(item, "py_func", item)
    if isinstance(item, types.FunctionType):
        if id(item) in seen:
            return
        seen.add(id(item))
        yield from _code_parts(item.__code__)
        yield repr((item.__defaults__, item.__kwdefaults__))
        for name in item.__code__.co_names:
            if name in item.__globals__:
                yield name
                yield from _parts(item.__globals__[name], seen)
                yield from _parts_of_module(item.__globals__[name], item.__code__.co_names, seen)
        for cell in item.__closure__ or ():
            yield from _parts(cell.cell_contents, seen)
    elif isinstance(item, (int, float, str, np.generic)):
        yield repr(item)
    elif isinstance(item, tuple):
        for part in item:
            yield from _parts(part, seen)
    elif isinstance(item, np.ndarray):
        yield repr((item.dtype, item.shape, item.tobytes()))
    elif isinstance(item, types.ModuleType):
        yield item.__name__
    elif isinstance(item, type) and hasattr(item, "_fields") and hasattr(item, "_field_defaults"):  # a NamedTuple
        yield repr((item.__name__, item._fields, item._field_defaults))


def _parts_of_module(item: Any, names: tuple[str, ...], seen: set[int]) -> Iterator[str]:
    """Yield the parts of what a function with these names may take from a module: numbers as constants.LIMIT."""
    if isinstance(item, types.ModuleType):
        for name in names:
            if name in vars(item):
                yield name
                yield from _parts(vars(item)[name], seen)


def _code_parts(code: types.CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_argcount))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_parts(constant)
        else:
            yield repr(constant)
