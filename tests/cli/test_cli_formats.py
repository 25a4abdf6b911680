"""What docs/formats.md says of each format, and the lines that it gives to try."""

import importlib.util
import re
import shlex
import shutil
import sys
from glob import glob
from pathlib import Path
from typing import Any

import pytest

from cutline.recorded import formats

ROOT = Path(__file__).parents[2]
FILES = ROOT / "tests" / "recorded" / "formats" / "files"

TRY = re.compile(r"^cutline (.*)$", re.MULTILINE)
PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")


def test_the_page_on_formats_has_a_row_for_each_and_says_what_each_says_of_itself() -> None:
    for item in formats.available():
        cells = (f"`{item.name}`", item.tool, item.task, item.label, item.worker, item.key, item.leaves_out)
        assert f"| {' | '.join(cells)} |" in PAGE


@pytest.mark.parametrize("line", TRY.findall(PAGE))
def test_what_the_page_on_formats_shows_can_be_tried(
    cutline: Any, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    words = [word for text in shlex.split(line) for word in (glob(text) or [text])]
    if "inspect.eval" in words and importlib.util.find_spec("zipfile_zstd") is None and sys.version_info < (3, 14):
        words[words.index("inspect.eval")] = "inspect.json"  # the same samples, not packed
    done = cutline(*words)
    assert done.status == 0, done.err
    assert "left out" in done.err


def test_the_page_on_formats_has_a_line_to_try_for_each() -> None:
    tried = " ".join(TRY.findall(PAGE))
    for path in FILES.iterdir():
        assert path.stem in tried or path.suffix == ".xml" or path.stem == "promptfoo"


def test_import_says_how_it_read_a_file_and_importing_it_again_is_no_news(
    cutline: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = [str(FILES / name) for name in ("go.xml", "jest.xml")]
    words = ("import", *files, "--db", "x.db", "--threshold", "0.95", "--budget", "40")
    read = f"{files[0]} and 1 other, read as junit: left out 2 skipped\n"
    assert cutline(*words).err == f"{read}campaign 'main', made with 4 arms: 4 new results\n"
    assert cutline(*words).err == f"{read}campaign 'main': nothing new; 4 were there already\n"


def test_several_files_whose_rows_only_their_place_identifies_are_refused(
    cutline: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("task,label\nt,1\n")
    done = cutline("import", "a.csv", "b.csv", "--db", "x.db", "--threshold", "0.5", "--budget", "4")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "cutline: several files whose rows have neither key nor one worker each cannot be told apart when they come "
        "again; import one at a time\n"
    )
    assert not Path("x.db").exists()


def test_what_says_how_labels_are_written_goes_with_a_pilot(cutline: Any) -> None:
    done = cutline("plan", "--means", "0.2,0.4", "--from", "junit", "--errors", "1")
    assert (done.status, done.err) == (
        2,
        "cutline: --from, --where and what says how labels are written go with --pilot\n",
    )


def test_of_several_files_the_one_is_named_that_the_line_is_in(
    cutline: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("task,worker,label\nfig,ann,1\npear,ann,1\n")
    Path("b.csv").write_text("task,worker,label\nfig,bob,1\nfig,bob,0\n")
    Path("c.csv").write_text("task,worker,label\npear,bob,1\npear,ann,0\n")
    made = ("--threshold", "0.5", "--budget", "9")
    done = cutline("import", "a.csv", "b.csv", "--db", "x.db", *made)
    assert done.err.startswith("cutline: b.csv, line 3: worker 'bob' has another label of task 'fig' in line 2; where")
    done = cutline("import", "a.csv", "c.csv", "--db", "x.db", *made)
    assert done.err.startswith(
        "cutline: c.csv, line 3: worker 'ann' has another label of task 'pear' in a.csv, line 3; where"
    )
    assert cutline("import", "a.csv", "--db", "x.db", *made).status == 0
    Path("d.csv").write_text("task,worker,label\npear,cid,1\nplum,cid,1\n")
    done = cutline("import", "a.csv", "d.csv", "--db", "x.db")
    assert (done.status, done.err) == (2, "cutline: d.csv, line 3: campaign 'main' has no arm 'plum'\n")
