"""A campaign that was open before a fork: the child works on it, or is told in one line why it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import forking
from cutline.campaign import Campaign
from ledger import audit

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
]


def run(script: str, *arguments: object) -> list[str]:
    """Run a script with all warnings as errors; return its lines."""
    out, talk, status = forking.run(script, *arguments)
    assert (talk, status) == ("", 0)
    return out.splitlines()


SHARED = """
import multiprocessing, sys
from cutline.campaign import Campaign

def work():
    for _ in range(10):
        (pull,) = campaign.ask()
        campaign.tell(pull, 1)

campaign = Campaign.create(sys.argv[1], "c", ["a", "b", "c"], 0.5, "LSA", 1000)
work()
children = [multiprocessing.get_context("fork").Process(target=work) for _ in range(3)]
for child in children:
    child.start()
work()
for child in children:
    child.join()
work()
print([child.exitcode for child in children], campaign.status().spent)
campaign.close()
"""

HELD = """
import os, sys, threading, warnings

fork, taken, done = threading.Event(), threading.Event(), threading.Event()

def let_it_be_held():
    fork.set()
    taken.wait()

os.register_at_fork(before=let_it_be_held)  # what is registered first is called last

from cutline.campaign import Campaign

def hold():
    fork.wait()
    with campaign._store.engine.pool._pool.mutex:
        taken.set()
        done.wait()

campaign = Campaign.create(sys.argv[1], "c", ["a"], 0.5, "LSA", 1000)
campaign.ask()
thread = threading.Thread(target=hold)
thread.start()
warnings.simplefilter("ignore")  # Python warns of a fork beside a thread
child = os.fork()
if child == 0:
    print(len(campaign.ask()), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
done.set()
thread.join()
campaign.close()
"""

LEFT = """
import os, sys
from cutline.campaign import Campaign

campaign = Campaign.create(sys.argv[1], "c", ["a"], 0.5, "LSA", 1000)
pull, other = campaign.ask(2)
read, write = os.pipe()
if os.fork():
    os.close(write)
    campaign.close()
    os.read(read, 1)  # the child has gone on without its parent's connections
    sys.exit()
os.close(read)
campaign.tell(pull, 1)
campaign.tell(other, 0)
print(campaign.status().spent, flush=True)
campaign.close()
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "x.db") if request.param == "sqlite" else request.getfixturevalue("postgresql")


def test_parent_and_children_of_a_fork_work_on_one_campaign(url: str) -> None:
    assert run(SHARED, url) == ["[0, 0, 0] 60"]
    with Campaign.open(url, "c") as campaign:
        audit(campaign)


def test_a_child_goes_on_when_its_parent_has_closed_the_campaign(url: str) -> None:
    assert run(LEFT, url) == ["2"]
    with Campaign.open(url, "c") as campaign:
        audit(campaign)


INHERITED = """
import os, sys
from cutline.campaign import Campaign

campaign = Campaign.create(sys.argv[1], "c", ["a"], 0.5, "LSA", 1000)
campaign.ask()
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
print([name for name in map(os.readlink, sys.argv[2:]) if "x.db" in name])
links = (f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd"))
print([os.readlink(link) for link in links if os.path.lexists(link) and "x.db" in os.readlink(link)])
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not list open files")
def test_a_child_inherits_no_open_file_of_an_sqlite_database(tmp_path: Path) -> None:
    """SQLite would take the parent's locks for the child's, and the child would write without any."""
    assert run(INHERITED, tmp_path / "x.db") == ["[]", "[]"]


BUSY = """
import os, sys, threading, warnings
from cutline.campaign import Campaign
from cutline.errors import StoreError

campaign = Campaign.create(sys.argv[1], "c", ["a"], 0.5, "LSA", 1000)
reading, done = threading.Event(), threading.Event()

def work(connection):
    reading.set()
    done.wait()

thread = threading.Thread(target=campaign._store.read, args=(work,))
thread.start()
reading.wait()
warnings.simplefilter("ignore")  # Python warns of a fork beside a thread
child = os.fork()
if child == 0:
    try:
        campaign.ask()
    except StoreError as error:
        print(error, flush=True)
    campaign.close()
    os._exit(0)
os.waitpid(child, 0)
done.set()
thread.join()
print(len(campaign.ask(3)))
campaign.close()
"""


def test_a_fork_in_the_midst_of_another_threads_transaction_leaves_the_child_a_refusal(tmp_path: Path) -> None:
    refusal, asked = run(
        BUSY.replace("import os", "import warnings; warnings.simplefilter('ignore'); import os"), tmp_path / "x.db"
    )
    assert refusal == (
        f"{tmp_path}/x.db: this process was forked while another thread used the database, which SQLite does not "
        "survive; start it by spawn or forkserver"
    )
    assert asked == "3"


IN_MEMORY = """
import os
from cutline.campaign import Campaign
from cutline.errors import StoreError

campaign = Campaign.create(None, "c", ["a"], 0.5, "LSA", 1000)
child = os.fork()
if child == 0:
    try:
        campaign.ask()
    except StoreError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(len(campaign.ask(3)))
campaign.close()
"""


def test_a_campaign_in_memory_is_refused_to_the_child_and_stays_with_the_parent() -> None:
    assert run(IN_MEMORY) == [
        "the database in memory: a campaign in memory stays in the process that made it; keep it in a file to share it",
        "3",
    ]


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_child_waits_for_no_lock_that_a_thread_of_its_parent_held(
    tmp_path: Path, request: pytest.FixtureRequest, database: str
) -> None:
    url = tmp_path / "x.db" if database == "sqlite" else request.getfixturevalue("postgresql")
    command = [sys.executable, "-W", "error", "-c", HELD, str(url)]  # Cutline is loaded when its hook is there
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert (done.stdout.splitlines(), done.stderr, done.returncode) == (["1", "0"], "", 0)
