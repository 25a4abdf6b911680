"""Notebooks as pages of the site: their text, their code, and the results that are kept in them.

A Sphinx extension; conf.py loads it.
"""

import json
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx

SHOWN = ("text/html", "image/svg+xml")
"""The kinds of results that a page shows as they are, the first that there is."""


class NotebookParser(MystParser):
    """Reads a notebook as a page of Markdown."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse the text of a notebook into a page."""
        cells = json.loads(inputstring)["cells"]
        super().parse("\n\n".join(text for cell in cells for text in blocks(cell)), document)


def blocks(cell: dict[str, Any]) -> Iterator[str]:
    """Yield a cell and its results as blocks of Markdown."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        html = next(("".join(data[kind]) for kind in SHOWN if kind in data), None)
        if html is not None:
            html = html[html.index("<svg") :] if "<svg" in html else html
            yield f"````{{raw}} html\n<div class='notebook-result'>{html}</div>\n````"
        else:
            yield f"```text\n{''.join(data['text/plain']).rstrip()}\n```"


def setup(app: Sphinx) -> dict[str, Any]:
    """Have Sphinx read notebooks."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
