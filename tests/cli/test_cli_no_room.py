"""cutline import and export where the disk is full or nothing may be written: one line, and nothing half-done."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign, campaigns

pytestmark = pytest.mark.process

Run = Callable[..., Any]

NEW = ("--threshold", "0.5", "--budget", "10")
LARGE = "task,worker,label\n" + "".join(f"task {i % 40},worker {i},1\n" for i in range(3000))
SMALL = LARGE[: LARGE.index("task 0,worker 40,")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("large.csv").write_text(LARGE)
    Path("small.csv").write_text(SMALL)
    return tmp_path


LIMITED = """
import resource, sys
most = int(sys.argv.pop(1))
sys.dont_write_bytecode = True  # Python would keep half a module, for ever
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
from cutline.cli import main
main()
"""


def limited(*arguments: str, most: int = 10**9, out: str = os.devnull) -> tuple[int, str]:
    """Run a command that may write no file of more than ``most`` bytes; return its exit status and what it says."""
    command = [sys.executable, "-c", LIMITED, str(most), *arguments]
    with open(out, "wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


def seen(campaign: Campaign) -> tuple[Any, ...]:
    """What a campaign says of itself: rows that an import has staged and not decided count for nobody."""
    return campaign.status(), campaign.decisions(), list(campaign.results())


def test_labels_that_a_full_disk_cannot_take_leave_the_campaign_as_before(cutline: Run) -> None:
    assert cutline("import", "small.csv", "--db", "x.db", *NEW).status == 0
    with Campaign.open("x.db", "main") as campaign:
        before = seen(campaign)
        done = limited("import", "large.csv", "--db", "x.db", most=200_000)
        assert done == (2, "cutline: x.db: disk I/O error\n")
        assert seen(campaign) == before
    again = cutline("import", "large.csv", "--db", "x.db")
    assert again.err == "campaign 'main': 2,960 new results; 40 were there already\n"


def test_a_campaign_whose_labels_a_full_disk_cannot_take_is_not_made(cutline: Run) -> None:
    given = ("import", "large.csv", "--db", "x.db", *NEW)
    assert limited(*given, most=200_000) == (2, "cutline: x.db: disk I/O error\n")
    assert campaigns("x.db") == []
    assert cutline(*given).err == "campaign 'main', made with 40 arms: 3,000 new results\n"


@pytest.mark.parametrize("what", ["observations", "decisions"])
def test_an_export_that_a_full_disk_cannot_take_leaves_the_old_file_and_nothing_else(
    cutline: Run, folder: Path, what: str
) -> None:
    cutline("import", "small.csv", "--db", "x.db", *NEW)
    Path("out.csv").write_text("old\n")
    with Campaign.open("x.db", "main"):  # so that reading it needs no file more
        before = sorted(os.listdir(folder))
        done = limited("export", what, "--db", "x.db", "--out", "out.csv", most=1000)
        assert done == (2, "cutline: cannot write out.csv: File too large\n")
        assert Path("out.csv").read_text() == "old\n"
        assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_standard_output_that_is_full_is_an_error(cutline: Run, form: str) -> None:
    cutline("import", "small.csv", "--db", "x.db", *NEW)
    done = limited("export", "observations", "--db", "x.db", "--format", form, out="/dev/full")
    assert done == (2, "cutline: cannot write standard output: No space left on device\n")


AS_NOBODY = """
import os, sys
from cutline.cli import main
def cutline(*words):
    sys.argv = ["cutline", *words]
    try:
        main()
    except SystemExit as stopped:
        print(words[0], stopped.code, flush=True)
kept, warm = sys.argv[1:]
for words in (["import", f"{kept}/labels.csv", "--threshold", "0.5", "--budget", "9"], ["export", "decisions"]):
    cutline(*words, "--db", f"{warm}/warm.db")  # loads all that will be needed
for name in os.listdir(warm):
    os.chmod(f"{warm}/{name}", 0o666)
if os.getuid() == 0:  # to whom nothing is read-only
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
print("read-only", flush=True)
cutline("import", f"{kept}/labels.csv", "--db", f"{kept}/x.db")
cutline("import", f"{kept}/labels.csv", "--db", f"{kept}/new.db", "--threshold", "0.5", "--budget", "9")
cutline("export", "observations", "--db", f"{warm}/warm.db", "--out", f"{kept}/out.csv")
"""


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that everybody may enter."""
    with tempfile.TemporaryDirectory(prefix="cutline-read-only-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_where_nothing_may_be_written_all_stays_as_before(shared_folder: Path) -> None:
    kept, warm = shared_folder / "kept", shared_folder / "warm"
    kept.mkdir()
    warm.mkdir()
    (kept / "labels.csv").write_text(SMALL)
    Campaign.create(kept / "x.db", "main", [f"task {i}" for i in range(40)], 0.5, "LSA", 10).close()
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    for path in kept.iterdir():
        path.chmod(0o444)
    kept.chmod(0o555)
    warm.chmod(0o777)
    command = [sys.executable, "-c", AS_NOBODY, str(kept), str(warm)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    kept.chmod(0o755)
    assert done.stdout.partition("read-only\n")[2].splitlines() == ["import 2", "import 2", "export 2"]
    _, known, new, export = done.stderr.splitlines()
    refused = "attempt to write a readonly database; this user may not write"
    assert known == f"cutline: {kept}/x.db: {refused} {kept.resolve()}/x.db"
    assert new == f"cutline: {kept}/new.db: unable to open database file: Permission denied"
    assert export == f"cutline: cannot write {kept}/out.csv: Permission denied"
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
