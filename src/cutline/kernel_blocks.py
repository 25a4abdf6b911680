"""How building blocks of kernels are compiled: to code that kernels take in, and that nobody calls.

Numba optimises every function that it compiles, together with all that it calls, and makes machine code of that. A
function deep in a kernel goes through this again for each of those above it, which was half of the time that LSA's
skip-ahead kernel took to compile. Here a building block is only tidied and what is small in it put in place; a kernel,
which holds all its blocks, is optimised and translated as ever.

That takes parts of Numba that are not public. It was tried with Numba 0.61 to 0.68; a later one compiles blocks in its
own way, until it has been tried.
"""

from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import IRLegalization

_NOT_TRIED = (0, 69)


class _Nowhere:
    """What Numba tells the address of a function's constants to: a block has none until a kernel has taken it in."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None: ...


class _BlockLibrary(JITCodeLibrary):
    """The code of a building block, without machine code."""

    @property
    def codegen(self) -> type[_Nowhere]:
        return _Nowhere

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        code = self._codegen
        options = {"loop_vectorize": code._loopvect, "slp_vectorize": False, "opt": code._opt_level, "cost": "cheap"}
        made = code._module_pass_manager(**options)
        manager, *builder = made if isinstance(made, tuple) else (made,)  # alone before Numba 0.62
        manager.run(self._final_module, *builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=True)
class _IntoBlock(AnalysisPass):
    """Lets the code of a function go into a library of a block."""

    _name = "cutline_into_block"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library = _BlockLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return False


class _BlockCompiler(CompilerBase):
    """Compiles a function as a building block."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_IntoBlock, IRLegalization)
        passes.finalize()
        return [passes]


def block_compiler(version: tuple[int, ...] = numba.version_info[:2]) -> type[CompilerBase]:
    """Return the ``pipeline_class`` of ``numba.njit`` for building blocks."""
    return _BlockCompiler if version < _NOT_TRIED else Compiler
