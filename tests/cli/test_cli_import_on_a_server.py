"""cutline import, with the address of a server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign
from cutline.server.settings import ServerSettings
from servers import serving

Run = Callable[..., Any]


def test_every_outcome_is_that_of_the_same_file_and_a_database(
    cutline: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    labels = Path("labels.csv")
    first, other = "a,ann,1\nb,ann,0\n", "a,ann,0\n"
    steps: list[tuple[str, list[str]]] = [
        (first, ["--threshold", "0.5", "--budget", "9"]),
        (first, []),
        (first, ["--budget", "10"]),
        (first + "b,bob,1\n", []),
        (other, []),
        (other, ["--replace"]),
        ("c,ann,1\n", []),
        ("c,ann,1\n", ["--add-arms"]),
        ("a,,1\na,,0\n", []),
        ("a,,1\n", []),
        ("a,,1\n", ["--replace"]),
        ("a,,1\n", ["--source", "elsewhere"]),
        ("a,eve,perhaps\n", []),
    ]
    with serving(ServerSettings("served.db")) as address:
        for text, options in steps:
            labels.write_text(f"task,worker,label\n{text}")
            here = cutline("import", "labels.csv", "--db", "here.db", *options)
            there = cutline("import", "labels.csv", "--db", address, *options)
            assert (there.status, there.out) == (here.status, here.out)
            assert there.err.replace(address, "here.db") == here.err
        with Campaign.open("here.db", "main") as one, Campaign.open("served.db", "main") as other_one:
            assert list(one.results()) == list(other_one.results())
            assert list(one.decisions()) == list(other_one.decisions())
