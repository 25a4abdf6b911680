"""cutline serve --processes: several processes that serve one address."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

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
        assert (server.returncode, said.count("Traceback")) == (0, 0)
        for process in serving:
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)
        audit(campaign)


def test_no_process_is_none_to_serve_with(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cutline", "serve", "--db", str(tmp_path / "x.db"), "--processes", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "cutline: processes is 0; it must be a whole number from 1 to 2^53",
    )
