"""cutline serve --processes: several processes that serve one address."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from cutline.campaign import Campaign
from ledger import audit

pytestmark = [pytest.mark.process, pytest.mark.slow]


def children_of(process: int) -> set[int]:
    """Return the processes that serve, which multiprocessing has started, by their command lines."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                serves = parent == process and b"spawn_main" in (entry / "cmdline").read_bytes()
            except OSError:
                continue
            found |= {int(entry.name)} if serves else set()
    return found


def is_there(process: int) -> bool:
    """Tell whether a process is still at work, and no zombie that nobody has waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so, for a minute at most."""
    ends = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_several_processes_serve_one_campaign_and_all_end_with_a_signal(
    postgresql: str, start_process: Callable[..., "subprocess.Popen[Any]"]
) -> None:
    with Campaign.create(postgresql, "birds", [f"arm {i}" for i in range(10)], 0.5, "LSA", 60) as campaign:
        command = [sys.executable, "-m", "cutline", "serve", "--db", postgresql, "--port", "0", "--processes", "2"]
        server = start_process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert server.stdout is not None
        address = server.stdout.readline().strip()

        def work(_: int) -> int:
            told = 0
            with Campaign.open(address, "birds") as served:
                while pulls := served.ask(3):
                    told += served.tell_many([(pull, 1) for pull in pulls])
            return told

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(work, range(4))) == 60
        serving = children_of(server.pid)
        assert len(serving) == 2
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=60)
        assert (server.returncode, said.count("Traceback")) == (-signal.SIGTERM, 0)
        for process in serving:
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)
        audit(campaign)


def test_when_the_first_process_is_killed_the_others_end_and_clients_go_on_with_the_next_server(
    tmp_path: Path, start_process: Callable[..., "subprocess.Popen[Any]"]
) -> None:
    db = str(tmp_path / "x.db")
    Campaign.create(db, "birds", ["a", "b"], 0.5, "LSA", 4).close()
    command = [sys.executable, "-m", "cutline", "serve", "--db", db, "--processes", "2", "--port"]
    server = start_process([*command, "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    with Campaign.open(address, "birds") as served:
        (pull,) = served.ask()
        serving = children_of(server.pid)
        assert len(serving) == 2
        server.kill()
        server.wait()
        until(lambda: not any(is_there(process) for process in serving))
        port = str(urlsplit(address).port)
        start_process([*command, port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert served.tell(pull, 1) is True
        assert served.status().spent == 1
