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
    for count in (12_000, 60_000):  # more than what is done at a time, and than a statement has parameters
        name = f"{count}.csv"
        Path(name).write_text("task,worker,label\n" + "".join(f"task {i},worker {i % 7},1\n" for i in range(count)))
        for said in (f"made with {count:,} arms: {count:,} new results", f"campaign 'main': {count:,} new results"):
            command = [sys.executable, "-c", MEASURED, "import", name, "--db", f"{count}.db", *NEW]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            assert said in done.stderr
            took.append(int(done.stdout) / 1024)
            Path(name).write_text(Path(name).read_text().replace(",worker", ",another worker"))
    assert max(took) < 200
    assert took[2] - took[0] < 30
    assert took[3] - took[1] < 30


@pytest.mark.process
def test_an_import_that_is_killed_leaves_no_campaign(start: Run) -> None:
    Path("long.csv").write_text("task,worker,label\n" + "".join(f"task {i},w,1\n" for i in range(60_000)))
    process = start("import", "long.csv", "--db", "x.db", *NEW)
    while process.poll() is None and in_table("x.db", "arms") < 10_000:
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    assert campaigns("x.db") == []
    with Campaign.create("x.db", "main", ["a"], 0.5, "LSA", 1) as campaign:
        assert [status.name for status in campaigns("x.db")] == ["main"]
        assert campaign.status().arms == 1


@pytest.mark.process
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_import_that_is_stopped_is_undone_and_holds_nobody_off(start: Run, how: int) -> None:
    count = 20_000
    with Campaign.create("x.db", "main", (f"task {i}" for i in range(count)), 0.5, "LSA", 10) as campaign:
        Path("long.csv").write_text("task,worker,label\n" + "".join(f"task {i},w,1\n" for i in range(count)))
        process = start("import", "long.csv", "--db", "x.db")
        while process.poll() is None and in_table("x.db", "pulls") < 2_000:
            time.sleep(0.01)
        process.send_signal(how)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out) == (130 if how == signal.SIGINT else -how, b"")
        assert err.splitlines()[-1] == b"cutline: stopped"
        assert (in_table("x.db", "imports"), in_table("x.db", "pulls")) == (0, 0)
        assert campaign.status().observed == 0


@pytest.mark.process
def test_an_import_into_a_campaign_that_is_killed_leaves_it_as_it_was(start: Run) -> None:
    count = 50_000
    with Campaign.create("x.db", "main", (f"task {i}" for i in range(count)), 0.5, "LSA", 10) as campaign:
        pull = campaign.ask(worker="v")[0]
        Path("long.csv").write_text("task,worker,label\n" + "".join(f"task {i},w,1\n" for i in range(count)))
        process = start("import", "long.csv", "--db", "x.db")
        while process.poll() is None and in_table("x.db", "pulls") < 5_000:
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL
        assert in_table("x.db", "imports") == 1
        assert list(campaign.results()) == []
        assert campaign.tell(pull, 1)
        with closing(sqlite3.connect("x.db")) as database, database:
            database.execute("UPDATE cutline_imports SET until = 1")  # as if much time had passed
        assert len(campaign.ask(9, worker="w")) == 9
        assert in_table("x.db", "imports") == 0
        assert in_table("x.db", "pulls") == 10
        assert campaign.status().observed == 0


def in_table(path: str, name: str) -> int:
    """How many rows a table of the database has, 0 where there is none yet."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return int(database.execute(f"SELECT count(*) FROM cutline_{name}").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
