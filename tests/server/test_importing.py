"""cutline import sends the rows of a file to a server, which says what it says of a database."""

import gzip
import json
import re
from pathlib import Path

import pytest
import urllib3

from cutline.campaign import Campaign, campaigns
from cutline.campaign.files.importing import Imported, import_file
from cutline.campaign.remote import connection
from cutline.errors import ConflictError, InvalidInputError
from cutline.server.api import imports
from cutline.server.settings import ServerSettings
from ledger import dump
from servers import serving

FLAGS = {"totals": False, "replace": False, "add_arms": False}
HEAD = json.dumps({"files": ["f"], "source": None, "why_no_source": "no source", "settings": None, **FLAGS})


def test_an_import_that_takes_long_is_answered_in_the_end_with_blanks_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "EVERY", 0.0)
    labels = tmp_path / "labels.csv"
    new = {"threshold": 0.5, "budget": 9}
    with serving(ServerSettings(str(tmp_path / "x.db"))) as address:
        labels.write_text("task,worker,label\na,ann,1\n")
        assert import_file(address, "birds", labels, settings=new) == Imported("birds", 1, 1, 1)
        labels.write_text("task,worker,label\na,ann,0\n")
        with pytest.raises(ConflictError, match=r"line 2: the result .* of arm 'a' was 1 and is now 0"):
            import_file(address, "birds", labels)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([], "it ends too early"),
        (["{"], "line 1: "),
        ([HEAD, '[0, 1, "a", "ann", 1, null, null]'], "line 2: "),
        ([HEAD, '[1, 1, "a", "ann", 1, null, null, 1]'], "line 2: "),
        ([HEAD, '[0, 1, "a", "ann", 2, null, null, 1]'], "reward 2 is not a number in [0, 1]"),
        ([HEAD, '[0, 1, "a\\u0000", "ann", 1, null, null, 1]'], "holds a NUL"),
        ([HEAD, '[0, 1, "a", null, 1, null, null, 1]'], "no source"),
        ([HEAD.replace('"settings": null', '"settings": {"budget": 1}')], "settings: threshold is missing"),
    ],
)
def test_what_cutline_import_would_not_send_is_refused_and_changes_nothing(
    tmp_path: Path, lines: list[str], fault: str
) -> None:
    db = str(tmp_path / "x.db")
    with Campaign.create(db, "birds", ["a"], 0.5, "LSA", 9) as campaign, serving(ServerSettings(db)) as address:
        before = dump(campaign)
        body = gzip.compress("\n".join(lines).encode())
        answer = urllib3.request("POST", f"{address}/api/v1/import?campaign=birds", body=body, timeout=60)
        assert answer.status == 422
        assert fault in answer.json()["detail"]
        assert dump(campaign) == before


def test_no_campaign_is_made_by_a_file_that_does_not_fit(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("task,worker,label\na,ann,1\na,ann,0\n")
    with serving(ServerSettings(str(tmp_path / "x.db"))) as address:
        with pytest.raises(InvalidInputError, match="line 3: worker 'ann' has another label of task 'a' in line 2"):
            import_file(address, "birds", labels, settings={"threshold": 0.5, "budget": 9})
        assert urllib3.request("GET", f"{address}/api/v1/campaigns", timeout=60).json() == []


def test_rows_are_counted_while_they_are_sent_and_too_many_are_refused_before_any_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = tmp_path / "labels.csv"
    told: list[int] = []
    labels.write_text("task,worker,label\n" + "".join(f"{i},{i * i % 7919},1\n" for i in range(20_000)))
    new = {"threshold": 0.5, "budget": 9}
    with serving(ServerSettings(str(tmp_path / "x.db"))) as address:
        with monkeypatch.context() as patch:
            patch.setattr(connection, "LARGEST_BODY", 1000)
            with pytest.raises(InvalidInputError) as caught:
                import_file(address, "birds", labels, settings=new)
        assert re.fullmatch(
            f"{address}: [0-9,]+ bytes were to be sent, and a server takes at most 1,000 at once; send less at a time, "
            "or do it where the database is",
            str(caught.value),
        )
        assert campaigns(address) == []
        assert import_file(address, "birds", labels, settings=new, progress=told.append).new == 20_000
        assert sum(told) == 20_000
        assert len(told) > 3
        assert import_file(address, "birds", labels, progress=told.append).new == 0
        assert sum(told) == 40_000
