"""Recorded results join a campaign: each once, all or none, and nothing of anybody else is touched."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from campaign_contract.campaigns import STRANGE_IDS, SharedCampaignTests, one
from cutline.campaign import Campaign, campaigns, delete
from cutline.campaign.files.exporting import RESULT_COLUMNS, result_rows, write_csv, write_jsonl
from cutline.campaign.files.importing import Imported, import_file
from cutline.campaign.operations.changing import building
from cutline.campaign.operations.observing import joining
from cutline.errors import ConflictError, NotFoundError, StoreError
from ledger import audit, dump, rows

NEW: dict[str, Any] = {"threshold": 0.5, "budget": 100}


class Importing(SharedCampaignTests):
    @pytest.fixture
    def labels(self, tmp_path: Path) -> Path:
        """A file in which every strange id is a task, and another one the worker."""
        path = tmp_path / "labels.jsonl"
        rows = zip(STRANGE_IDS, reversed(STRANGE_IDS), strict=True)
        path.write_text("".join(json.dumps({"task": a, "worker": b, "label": len(a) % 2}) + "\n" for a, b in rows))
        return path

    def test_the_same_file_again_is_no_news(self, url: str, labels: Path) -> None:
        count = len(STRANGE_IDS)
        assert import_file(url, None, labels, settings=NEW) == Imported("main", count, count, count)
        with Campaign.open(url, "main") as campaign:
            before = dump(campaign)
            assert import_file(url, None, labels) == Imported("main", count, 0, None)
            assert dump(campaign) == before
            audit(campaign)
            assert [(item.arm, item.worker, item.reward) for item in campaign.results()] == [
                (task, worker, len(task) % 2) for task, worker in zip(STRANGE_IDS, reversed(STRANGE_IDS), strict=True)
            ]

    @pytest.mark.parametrize("form", ["csv", "jsonl"])
    def test_what_was_exported_is_no_news_when_it_is_imported(self, url: str, tmp_path: Path, form: str) -> None:
        with Campaign.create(url, "c", STRANGE_IDS, 0.5, "LSA", 100) as campaign:
            for pull in campaign.ask(8, worker="ann, the \r first"):
                campaign.tell(pull, 1 / 3)
            campaign.observe("007", 1)
            campaign.ask(2)
            path = tmp_path / f"export.{form}"
            with path.open("w", newline="", encoding="utf-8") as file:
                if form == "csv":
                    write_csv(result_rows(campaign), RESULT_COLUMNS, file)
                else:
                    write_jsonl(result_rows(campaign), file)
            before = dump(campaign)
            assert import_file(url, "c", path) == Imported("c", 9, 0, None)
            assert dump(campaign) == before

    def test_a_row_that_does_not_fit_changes_nothing(self, url: str, made: Campaign, tmp_path: Path) -> None:
        made.observe("arm 0", 1, key="k")
        before = dump(made)
        path = tmp_path / "labels.csv"
        for last, error in (("arm 1,0,k", ConflictError), ("arm 0,0,k", ConflictError), ("arm 20,1,l", NotFoundError)):
            path.write_text(f"task,label,key\narm 3,1,new\n{last}\n")
            with pytest.raises(error):
                import_file(url, "flaky", path)
            assert dump(made) == before

    def test_an_import_that_fails_in_the_middle_leaves_no_campaign_and_nothing_of_one(
        self, url: str, made: Campaign, labels: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> int:
            assert rows(made, "SELECT count(*) FROM cutline_arms") == [(20 + len(STRANGE_IDS),)]
            assert [status.name for status in campaigns(url)] == ["flaky"]
            raise StoreError("the disk is full")

        monkeypatch.setattr(joining, "record_observed", fail)
        with pytest.raises(StoreError, match="the disk is full"):
            import_file(url, "new", labels, settings=NEW)
        assert self.everything(made) == [(1, 20, 0)]

    def test_totals_grow_or_are_replaced(self, url: str, tmp_path: Path) -> None:
        path = tmp_path / "totals.csv"
        for totals, replace, outcome, record in (
            ("a,5,10\nb,1,1", False, Imported("main", 11, 11, 2), (10, 0.5)),
            ("a,5,10\nb,1,1", True, Imported("main", 11, 0, None), (10, 0.5)),
            ("a,6,12", False, Imported("main", 12, 2, None), (12, 0.5)),
            ("a,7,12", False, "line 2: task 'a' has 5 no and had more", (12, 0.5)),
            ("a,1,1", False, "had more", (12, 0.5)),
            ("a,7,8", True, Imported("main", 8, 1, None, 5), (8, 0.875)),
            ("a,7,10", False, Imported("main", 10, 2, None), (10, 0.7)),
        ):
            path.write_text(f"task,yes,n\n{totals}\n")
            if isinstance(outcome, Imported):
                assert import_file(url, None, path, settings=NEW, replace=replace) == outcome
            else:
                with pytest.raises(ConflictError, match=outcome):
                    import_file(url, None, path, settings=NEW, replace=replace)
            with Campaign.open(url, "main") as campaign:
                audit(campaign)
                decision = campaign.decisions()[0]
                assert (decision.pulls, decision.mean) == record
                assert campaign.status().observed == record[0] + 1

    def everything(self, campaign: Campaign) -> list[tuple[Any, ...]]:
        """How many campaigns, arms and pulls the database holds."""
        return rows(
            campaign,
            "SELECT (SELECT count(*) FROM cutline_campaigns), (SELECT count(*) FROM cutline_arms), "
            "(SELECT count(*) FROM cutline_pulls)",
        )


class ImportingHalfWay(Importing):
    """What can only be tried where the import is at work in this process."""

    def test_what_a_killed_import_leaves_nobody_sees_and_the_next_one_deletes(
        self, url: str, made: Campaign, labels: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as killed:
            killed.setattr(building, "_drop", lambda *_: None)  # as if there had been no time for it
            killed.setattr(joining, "record_observed", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                import_file(url, "new", labels, settings=NEW)
        assert [status.name for status in campaigns(url)] == ["flaky"]
        with pytest.raises(NotFoundError, match="no campaign is called 'new'; there are 'flaky'"):
            Campaign.open(url, "new")
        count = len(STRANGE_IDS)
        import_file(url, "new", labels, settings=NEW)  # that builder may still be alive
        assert self.everything(made) == [(3, 20 + 2 * count, count)]
        monkeypatch.setattr(building, "_PATIENCE", 0.0)
        delete(url, "new")
        long_ago = text("UPDATE cutline_campaigns SET unfinished_until = 1 WHERE unfinished_until > 0")
        made._store.write(lambda connection: connection.execute(long_ago))
        import_file(url, "new", labels, settings=NEW)
        assert self.everything(made) == [(2, 20 + count, count)]

    def test_others_go_on_while_an_import_makes_a_campaign_and_see_it_when_it_is_whole(
        self, url: str, made: Campaign, tmp_path: Path
    ) -> None:
        path = tmp_path / "labels.csv"
        path.write_text("task,worker,label\n" + "".join(f"{i % 30},{i},{i % 2}\n" for i in range(3 * joining.CHUNK)))
        seen = []

        def meanwhile(amount: int) -> None:
            assert made.tell(one(made), 1)
            seen.append([status.name for status in campaigns(url)])

        done = import_file(url, "large", path, settings=NEW, progress=meanwhile)
        assert done == Imported("large", 3 * joining.CHUNK, 3 * joining.CHUNK, 30)
        assert seen == [["flaky"]] * 3
        with Campaign.open(url, "large") as campaign:
            audit(campaign)
            assert campaign.status().observed == 3 * joining.CHUNK
            assert import_file(url, "large", path, progress=False) == Imported("large", 3 * joining.CHUNK, 0, None)

    def test_who_is_overtaken_while_making_a_campaign_joins_the_one_that_was_made(
        self, url: str, made: Campaign, labels: Path
    ) -> None:
        count = len(STRANGE_IDS)

        def overtake(amount: int) -> None:
            if "new" not in [status.name for status in campaigns(url)]:
                import_file(url, "new", labels, settings=NEW, progress=False)

        assert import_file(url, "new", labels, settings=NEW, progress=overtake) == Imported("new", count, 0, None)
        assert self.everything(made) == [(2, 20 + count, count)]
