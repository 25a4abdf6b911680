"""The documentation site: it builds without a warning, everything public stands in it, and no link is broken."""

import ast
import importlib
import pkgutil
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest
from sphinx.util.inventory import InventoryFile

import cutline
import documents
from cutline.cli import cutline as command_line
from cutline.policies import available

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

pytestmark = pytest.mark.docs


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as ``make docs`` does, and return its folder."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", str(ROOT / "docs"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def entries(site: Path) -> dict[str, set[str]]:
    """Return what the site has an entry for: names by their kind, such as py:class."""
    with (site / "objects.inv").open("rb") as file:
        found = InventoryFile.load(file, "", posixpath.join)
    return {kind: set(names) for kind, names in found.items()}


def public_names() -> Iterator[str]:
    """Yield what ``cutline`` and the packages and modules right below it export."""
    modules = [cutline, *(importlib.import_module(f"cutline.{name}") for name in below())]
    for module in modules:
        for name in getattr(module, "__all__", ()):
            yield f"{module.__name__}.{name}"


def below() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(cutline.__path__) if not module.name.startswith("_")]


def imported_names() -> Iterator[str]:
    """Yield what the examples in the pages import from Cutline."""
    for page in PAGES:
        for block in documents.blocks(page.read_text(encoding="utf-8")):
            if block.kind == "python" and not block.file:
                found = (node for node in ast.walk(ast.parse(block.text)) if isinstance(node, ast.ImportFrom))
                yield from (
                    f"{node.module}.{name.name}"
                    for node in found
                    if node.module and node.module.split(".")[0] == "cutline"
                    for name in node.names
                )


def without_entry(entries: dict[str, set[str]], names: Iterable[str]) -> list[str]:
    """Return the names whose object has no entry, under whatever name."""
    known = {name for kind, found in entries.items() if kind.startswith("py:") for name in found}
    objects = {id(find(name)) for name in known} - {id(None)}
    return [name for name in names if name not in known and id(find(name)) not in objects]


def find(name: str) -> object:
    """Return what a module holds under a name, None if there is no such module or name."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), last, None)
    except ImportError:
        return None


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            inner = command.get_command(context, word)
            assert inner is not None
            yield from commands(inner, f"{name} {word}")


def test_every_public_name_has_an_entry(entries: dict[str, set[str]]) -> None:
    names = sorted(public_names())
    assert {"cutline.simulate", "cutline.theory.upper_bound", "cutline.plotting.save_figure"} <= set(names)
    assert without_entry(entries, names) == []


def test_a_name_without_an_entry_is_noticed(entries: dict[str, set[str]]) -> None:
    """The control: a function that is not public, and one that does not exist."""
    names = ["cutline.files.whole_file", "cutline.simulate", "cutline.planning.plan", "cutline.files.no_file"]
    assert without_entry(entries, names) == ["cutline.files.whole_file", "cutline.files.no_file"]


def test_every_policy_has_an_entry(entries: dict[str, set[str]]) -> None:
    names = [f"{policy.__module__}.{policy.__qualname__}" for policy in available()]
    assert "cutline.policies.lsa.LSA" in names
    assert without_entry(entries, names) == []


def test_what_the_examples_import_has_an_entry(entries: dict[str, set[str]]) -> None:
    names = sorted(set(imported_names()))
    assert "cutline.Campaign" in names
    assert without_entry(entries, names) == []


def test_every_command_and_every_option_has_an_entry(site: Path, entries: dict[str, set[str]]) -> None:
    page = Ids.of((site / "reference" / "command_line.html").read_text(encoding="utf-8"))
    missing = []
    for name, command in commands(command_line, "cutline"):
        anchor = name.replace(" ", "-")
        missing += [name] * (anchor not in page.ids)
        for parameter in command.params:
            words = [f"{anchor}.{word}" for word in parameter.opts]
            if isinstance(parameter, click.Option) and not entries["std:cmdoption"].intersection(words):
                missing.append(f"{name} {parameter.opts[0]}")
    assert missing == []


class Ids(HTMLParser):
    """The ids of a page, what it links to, and what a browser loads to show it."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    @classmethod
    def of(cls, text: str) -> "Ids":
        made = cls()
        made.feed(text)
        return made

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        self.ids |= {found[key] for key in ("id", "name") if key in found and (key == "id" or tag == "a")}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif "href" in found:
            self.loaded.append(found["href"])
        self.loaded += [found[key] for key in ("src", "srcset", "data", "poster", "action") if key in found]
        self.loaded += re.findall(r"url\(['\"]?([^'\")]+)", found.get("style", ""))


def broken_links(folder: Path) -> list[str]:
    """Return every link from one page in a folder to another, or to a place in it, that leads nowhere."""
    pages = {path: Ids.of(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    broken = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            missing = parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids
            if missing or not target.is_file():
                broken.append(f"{path.relative_to(folder)}: {link}")
    return broken


def loaded_from_elsewhere(folder: Path) -> list[str]:
    """Return what pages and style sheets make a browser load from another address."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        found += [f"{path.name}: {link}" for link in Ids.of(path.read_text(encoding="utf-8")).loaded if is_remote(link)]
    for path in sorted(folder.rglob("*.css")):
        links = re.findall(r"(?:url\(|@import )\s*['\"]?([^'\")\s]+)", path.read_text(encoding="utf-8"))
        found += [f"{path.name}: {link}" for link in links if is_remote(link)]
    return found


def is_remote(link: str) -> bool:
    return urlsplit(link).scheme not in ("", "data") or link.startswith("//")


def test_no_link_of_the_site_is_broken(site: Path) -> None:
    assert broken_links(site) == []


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    assert loaded_from_elsewhere(site) == []


def test_broken_links_and_remote_files_are_noticed(tmp_path: Path) -> None:
    """The control: a site of two pages with one fault of each kind."""
    (tmp_path / "one.html").write_text(
        '<a href="two.html#here">good</a> <a href="two.html#there">no such place</a> <a href="three.html">no page</a>'
        '<a href="#top">no such place here</a> <a href="https://example.org">elsewhere</a> <img src="gone.svg">'
        '<script src="https://example.org/a.js"></script>'
    )
    (tmp_path / "two.html").write_text('<h1 id="here">Two</h1><link href="//example.org/a.css">')
    (tmp_path / "a.css").write_text("@import 'https://example.org/b.css'; p {background: url(data:,x)}")
    assert broken_links(tmp_path) == [
        "one.html: two.html#there",
        "one.html: three.html",
        "one.html: #top",
        "one.html: gone.svg",
    ]
    assert loaded_from_elsewhere(tmp_path) == [
        "one.html: https://example.org/a.js",
        "two.html: //example.org/a.css",
        "a.css: https://example.org/b.css",
    ]


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("*.md")), *PAGES[1:]], ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_is_in_the_repository(page: Path) -> None:
    """For those who read the pages where they lie, without the site."""
    links = re.findall(
        r"\]\(([^()\s]+)\)", re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    )
    paths = [urlsplit(link).path for link in links if not urlsplit(link).scheme]
    assert [path for path in paths if path and not (page.parent / path).exists()] == []
