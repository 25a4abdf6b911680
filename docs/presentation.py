"""How the site shows what comes from the code: docstrings, which are plain text, signatures and commands.

A Sphinx extension; conf.py loads it.
"""

import re
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import click
from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

from cutline import __all__ as exported
from cutline.cli import cutline
from cutline.policies import available

COMMAND_LINE = "reference/command_line"
NARROW = 24
"""Where no cell of a table has more characters, none is broken into lines."""

BOUNDS = ("ceiling", "band", "head_start")
"""What a policy may give the skip-ahead engine besides its index."""

_MARKED = re.compile(r"(``.+?``|\*\*.+?\*\*)", re.DOTALL)
_ITEM = re.compile(r"(?:^|(?<=[.;])\s+)(?=``\w+``(?:, ``\w+``)*: )")


def show_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Show what a docstring says of each argument or field as a list, and all its characters as they stand."""
    shown: list[str] = []
    for paragraph in "\n".join(lines).split("\n\n"):
        parts = _MARKED.split(paragraph)
        parts[::2] = [re.sub(r"[|*\\]", r"\\\g<0>", part) for part in parts[::2]]
        before, *items = _ITEM.split("".join(parts))
        if len(items) < 2:
            shown.append(paragraph if paragraph.startswith(" ") else "".join(parts))  # code, where it is indented
            continue
        items[-1], raises, after = items[-1].partition("Raises ")
        listed = "\n".join("* " + " ".join(item.split()) for item in items)
        shown += [block for block in (before, listed, raises + after) if block.strip()]
    lines[:] = "\n\n".join(shown).split("\n")


def show_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Leave out a constructor that is not there to be called; write ... for a default that a function makes."""
    if what == "class" and (
        getattr(obj, "_is_protocol", False) or (obj.__init__.__doc__ or "").startswith("Not to be called")
    ):
        return "", None
    return signature and signature.replace("<factory>", "..."), returns


def skip_bounds(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out of every policy but the contract what only an engine calls; see ``Policy``."""
    return True if name in BOUNDS and isinstance(obj, FunctionType) else None


def show_examples(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Show the examples in a command's help as code."""
    for place, line in enumerate(lines):
        if re.fullmatch(r"\|? ?Examples?:", line):
            examples = [re.sub(r"^\| ?", "", example) for example in lines[place + 1 :]]
            lines[place:] = ["", line.removeprefix("| ")[:-1] + "::", "", *examples, ""]
            return


def commands(command: click.Command = cutline, name: str = "cutline") -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its whole name, such as cutline campaign ask."""
    yield name, command
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for word in command.list_commands(context):
                inner = command.get_command(context, word)
                assert inner is not None
                yield from commands(inner, f"{name} {word}")


def show_commands(app: Sphinx, doctree: nodes.document) -> None:
    """Give each command its whole name as its title; mark the tables that are not to be broken."""
    if app.env.docname == COMMAND_LINE:
        names = {name.replace(" ", "-"): name for name, _ in commands()}
        for section in doctree.findall(nodes.section):
            name = next((names[anchor] for anchor in section["ids"] if anchor in names), None)
            title = section.next_node(nodes.title)
            if name is not None and title is not None:
                title.replace_self(nodes.title(name, name))
    for table in doctree.findall(nodes.table):
        if all(len(entry.astext()) <= NARROW for entry in table.findall(nodes.entry)):
            table["classes"].append("narrow")


class Policies(SphinxDirective):
    """Document the policies that come with Cutline, or its yardsticks: ``.. policies:: methods``, ``yardsticks``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return what autoclass makes of each of them."""
        yardsticks = self.arguments[0] == "yardsticks"
        names = [
            f"cutline.{item.__name__}" if item.__name__ in exported else f"{item.__module__}.{item.__name__}"
            for item in available()
            if item.__module__.startswith("cutline.") and item.yardstick == yardsticks
        ]
        return self.parse_text_to_nodes("".join(f".. autoclass:: {name}\n" for name in names))


class LinkNames(SphinxPostTransform):
    """Make a link of every name in code print that stands in the reference, in pages and in docstrings.

    A name is written in full or as ``cutline`` exports it, with or without (); a command as on the command line.
    """

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Wrap the names in links."""
        names = {name for name, _ in commands()}
        for literal in list(self.document.findall(nodes.literal)):
            text = literal.astext()
            place = (COMMAND_LINE, text.replace(" ", "-")) if text in names else self._place(text.removesuffix("()"))
            inside = isinstance(literal.parent, (nodes.reference, nodes.title))
            if place is not None and not inside and place[0] != self.env.docname:
                page, anchor = place
                link = make_refnode(self.app.builder, self.env.docname, page, anchor, literal.deepcopy())
                literal.replace_self(link)

    def _place(self, name: str) -> tuple[str, str] | None:
        """Return the page and the anchor of a Python name, None if it has none."""
        objects = self.env.domains.python_domain.objects
        found = objects.get(name) or objects.get(f"cutline.{name}")
        if found is None or (found.objtype == "module" and "." not in name):
            return None
        return found.docname, found.node_id


def setup(app: Sphinx) -> None:
    """Register what is defined above, and CSV, for which Pygments has no colours."""
    app.connect("autodoc-process-docstring", show_docstring)
    app.connect("autodoc-process-signature", show_signature)
    app.connect("autodoc-skip-member", skip_bounds)
    app.connect("sphinx-click-process-description", show_examples)
    app.connect("doctree-read", show_commands)
    app.add_directive("policies", Policies)
    app.add_post_transform(LinkNames)
    app.add_lexer("csv", TextLexer)
