"""cutline import: long files, and imports that are killed."""

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from cutline.campaign import Campaign, campaigns
from label_files import NEW, Run
from surroundings import PATIENCE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


MEASURED = """
from pathlib import Path
from cutline.cli import main
try:
    main()
finally:  # not ru_maxrss, which a process inherits from the one that started it
    print(*[line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")])
"""


@pytest.mark.slow
@pytest.mark.process
def test_a_long_file_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    took = []
    for count in (2_000, 60_000):
        name = f"{count}.csv"
        Path(name).write_text("task,worker,label\n" + "".join(f"task {i},worker {i % 7},1\n" for i in range(count)))
        command = [sys.executable, "-c", MEASURED, "import", name, "--db", f"{count}.db", *NEW]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert f"made with {count:,} arms: {count:,} new results" in done.stderr
        took.append(int(done.stdout) / 1024)
    assert took[1] < 200
    assert took[1] - took[0] < 30


@pytest.mark.process
def test_an_import_that_is_killed_leaves_no_campaign(start: Run) -> None:
    Path("long.csv").write_text("task,worker,label\n" + "".join(f"task {i},w,1\n" for i in range(200_000)))
    process = start("import", "long.csv", "--db", "x.db", *NEW)
    while process.poll() is None and arms_in("x.db") < 10_000:
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    assert campaigns("x.db") == []
    with Campaign.create("x.db", "main", ["a"], 0.5, "LSA", 1) as campaign:
        assert [status.name for status in campaigns("x.db")] == ["main"]
        assert campaign.status().arms == 1


def arms_in(path: str) -> int:
    """How many arms the database has, 0 where there is none yet."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM cutline_arms").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
