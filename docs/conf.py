"""The documentation site: ``make docs`` builds it from these pages and from the docstrings, with warnings as errors.

Everything that a page loads lies in the site itself, so that it works from the file system and behind a firewall.
"""

import sys
from importlib import metadata
from pathlib import Path
from typing import Generic, NewType, TypeVar

import numpy.typing

sys.path.insert(0, str(Path(__file__).parent))

T = TypeVar("T")


class _NDArray(Generic[T]):
    """Stands for numpy's NDArray while signatures are read, so that they show the name and not what it stands for."""


_NDArray.__name__ = _NDArray.__qualname__ = "NDArray"
vars(numpy.typing).update(NDArray=_NDArray, ArrayLike=NewType("ArrayLike", object))

project = "Cutline"
author = "The Cutline developers"
project_copyright = author
release = metadata.version("cutline")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "notebook_pages",
    "presentation",
]
exclude_patterns = ["_build"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!cutline\b).*")]  # what other libraries document is not part of this site
smartquotes = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_docstring_signature = False
autodoc_typehints_format = "short"
maximum_signature_line_length = 80

html_theme = "furo"
html_title = f"Cutline {release}"
html_favicon = "_static/cutline.svg"
html_static_path = ["_static"]
html_css_files = ["cutline.css"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r"\$ |> "
copybutton_prompt_is_regexp = True
