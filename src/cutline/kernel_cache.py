"""The files of compiled kernels, so that later processes load what one has compiled.

Numba's own file cache knows a function by its file alone; a kernel that calls a policy's index would go on
running the old index after an edit of the policy. Kernels are cached here under a fingerprint of all the
code that they reach, so an entry can be stale only if nothing in it has changed.

Compiling takes seconds. Of processes that need the same kernel at the same time one compiles it, and the others wait
for what it writes.
"""

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime.nrt import rtsys


def compiled_once(kernel: Any, open_cache: Callable[[], "KernelCache"]) -> Callable[[Any], Any]:
    """Return the compiling of a kernel so that, of processes that need it at the same time, one does it.

    Its cache is opened when it is first needed: only then is all defined that the kernel calls, since functions may
    stand below it in a module.
    """
    compile_or_load = kernel.compile

    @cache
    def is_cached() -> bool:
        try:
            kernel._cache = open_cache()
        except RuntimeError:  # no folder to write to: it is compiled anew in every process
            return False
        return True

    def after_others(signature: Any) -> Any:
        if not is_cached() or kernel._cache.holds(signature, kernel.targetctx):
            return compile_or_load(signature)
        with global_compiler_lock, kernel._cache.no_other_process():
            return compile_or_load(signature)

    return after_others


class KernelCache(FunctionCache):
    """Numba's file cache with one set of files per fingerprint, so that processes cannot mix kernels up."""

    def __init__(self, function: Callable[..., Any], fingerprint: str) -> None:
        super().__init__(function)
        self._fingerprint = fingerprint
        self._cache_file = _Files(
            cache_path=self._cache_path,
            filename_base=f"{self._impl.filename_base}.{self._fingerprint[:16]}",
            source_stamp=self._fingerprint,
        )

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (sig, _fields_of(sig), codegen.magic_tuple(), self._fingerprint)

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Say whether there is an entry for arguments of these types."""
        return self._index_key(sig, target_context.codegen()) in self._cache_file._load_index()

    @contextmanager
    def no_other_process(self) -> Iterator[None]:
        """Let no other process be in here for this kernel; where no lock can be had, all may."""
        with ExitStack() as held:
            with suppress(ImportError, OSError):
                import fcntl  # not everywhere

                self._impl.locator.ensure_cache_path()
                lock = held.enter_context(open(f"{self._cache_file._index_path}.lock", "wb"))
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel, or None if there is none.

        Numba's own would first load all that a compiler needs: twice as much code as it takes to run the kernel.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # a full disk or a read-only folder costs time, not the result
            super().save_overload(sig, data)


def _fields_of(argument: Any) -> tuple[Any, ...]:
    """Return the names of the fields of NamedTuples among the types of a kernel's arguments, which do not tell them."""
    if not isinstance(argument, (tuple, numba.types.BaseTuple)):
        return ()
    parts: Any = argument
    return (getattr(argument, "fields", ()), *(_fields_of(part) for part in parts))


class _Files(IndexDataCacheFile):
    """The files of a kernel: an index of its entries by their keys, and the machine code of each.

    Every file is written under another name and renamed, and ends in a digest of what stands before. One that is
    damaged, as after a crash or a full disk, counts as absent; so does an entry under another key than the one asked
    for, as where two processes took the same name for theirs.
    """

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        entry = super().load(key)
        return entry[1] if entry is not None and entry[0] == key else None

    def _load_index(self) -> Any:
        return super()._load_index() if _is_whole(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        with suppress(ModuleNotFoundError):  # a function of a script or a document that is not running now
            return super()._load_data(name) if _is_whole(path) else None
        return None

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
