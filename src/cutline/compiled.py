"""Everything that concerns numba but the files of kernels: options, compiling plain index functions, fingerprints.

A fingerprint is a hash of a function's code and of all functions and constants that it uses. Kernels are cached under
theirs (``kernel_cache``), so that any change of these compiles the kernel anew.

Numba names machine code after the Python function, and functions that a factory makes for several policies have the
same name. If two cached kernels with functions of one name are loaded into a process, the second calls those of the
first, which belong to another policy. So a function's name is extended by its fingerprint before it is compiled
(``_rename``). A factory must also return the same function each time, whatever threads call it (``made_once``): a
kernel made of two copies of a function would have another fingerprint than one made of a single copy, and would not be
found in the cache.

Numba counts references to arrays, with atomic operations that took longer than the work itself wherever arrays came out
of a tuple in a small function. Building blocks that make no arrays are compiled without (``jit_in_place``). All
building blocks are compiled without what Python would need to call them, which was 40 percent of compiling LSA's climb,
and without machine code of their own (``kernel_blocks``).
"""

import hashlib
import threading
import types
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.errors import NumbaError

from cutline.bits import bits_of, float_of
from cutline.errors import InvalidInputError
from cutline.kernel_blocks import block_compiler
from cutline.kernel_cache import KernelCache, compiled_once

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False, "fastmath": False}
_OPTIONS_OF_BLOCKS = {
    **_OPTIONS,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": block_compiler(),
}
_OPTIONS_IN_PLACE = {**_OPTIONS_OF_BLOCKS, "_nrt": False}
_OPTIONS_INLINED = {**_OPTIONS_IN_PLACE, "forceinline": True}
_MAKING = threading.RLock()

_IN_KERNELS: dict[Callable[..., Any], Callable[..., Any]] = {
    bits_of: lambda x: np.float64(x).view(np.int64),
    float_of: lambda bits: np.int64(bits).view(np.float64),
}
"""What kernels have in the place of plain functions that numba cannot compile."""


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
    return _building_block(function, _OPTIONS_OF_BLOCKS)


def jit_in_place(function: F) -> F:
    """Compile a building block that makes no arrays: it works in those that it is given."""
    return _building_block(function, _OPTIONS_IN_PLACE)


def jit_inlined(function: F) -> F:
    """Compile a building block that makes no arrays into whatever calls it, however large it is."""
    return _building_block(function, _OPTIONS_INLINED)


def _building_block(function: F, options: dict[str, Any]) -> F:
    """Compile a function without a way in for Python: a call from there would crash, so it raises TypeError."""

    def refuse(*arguments: Any, **named: Any) -> None:
        raise TypeError(f"{function.__name__} is compiled for kernels; only compiled code can call it")

    _rename(function)
    compiled: Any = numba.njit(**options)(function)
    if compiled is not function:  # else numba is switched off
        compiled._compile_for_args = refuse
        compiled._insert = lambda *arguments, **named: None  # what would be called without asking to compile
    return cast(F, compiled)


def kernel(function: F) -> F:
    """Compile a function that Python calls; it releases the GIL, and later processes load it from disk."""
    _rename(function)
    compiled: Any = numba.njit(**_OPTIONS)(function)
    if compiled is not function:  # else numba is switched off
        compiled.compile = compiled_once(compiled, lambda: KernelCache(function, fingerprint(function)))
    return cast(F, compiled)


def _rename(function: Callable[..., Any]) -> None:
    function.__qualname__ = f"{function.__qualname__}_{fingerprint(function)[:16]}"


@made_once
def compile_plain(function: Callable[..., R], inlined: bool = False) -> Callable[..., R]:
    """Compile a plain Python function, such as a policy's index, and the plain functions that it calls.

    An ``array`` of Python's in its module becomes one of NumPy's.
    ``inlined``: as ``jit_inlined`` does; what it calls is left to the compiler.
    """
    function = _IN_KERNELS.get(function, function)
    namespace = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(namespace.get(name), types.FunctionType):
            namespace[name] = compile_plain(namespace[name])
        elif isinstance(namespace.get(name), array):
            namespace[name] = np.array(namespace[name])
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    return (jit_inlined if inlined else jit_in_place)(copy)


@made_once
def with_table(function: Callable[..., R]) -> Callable[..., R]:
    """Compile ``function(pulls, total, threshold, table)`` to take an arm before the table, which all arms share."""
    f = compile_plain(function)
    return jit_in_place(lambda pulls, total, threshold, arm, table: f(pulls, total, threshold, table))


@made_once
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
        from click import unstyle  # which the library needs for nothing else

        said = unstyle(str(error)).splitlines()  # Numba before 0.62 colours it
        lines = [line for line in said if line and not line.startswith("Failed in ")] or ["?"]
        where = [line.rstrip(":") for line in lines[1:] if line.startswith("File ")]
        cause = " in ".join([lines[0].rstrip(".:"), *where[:1]])
        raise InvalidInputError(
            f"{what} cannot be compiled: {cause}; it may use numbers, math, and plain functions that do so, too"
        ) from error


def fingerprint(function: Callable[..., Any]) -> str:
    """Return a hash of the function's code, of the constants it uses, of every function it reaches, and the options."""
    digest = hashlib.sha256(repr((_OPTIONS, _OPTIONS_OF_BLOCKS, _OPTIONS_IN_PLACE, _OPTIONS_INLINED)).encode())
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
    elif isinstance(item, array):
        yield repr((item.typecode, item.tobytes()))
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
