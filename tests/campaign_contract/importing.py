"""Recorded results join a campaign: each once, all or none, and nothing of anybody else is touched."""

import json
from pathlib import Path
from typing import Any

import pytest

from campaign_contract.campaigns import STRANGE_IDS, SharedCampaignTests, one
from cutline.campaign import Campaign, campaigns
from cutline.campaign.files.exporting import RESULT_COLUMNS, result_rows, write_csv, write_jsonl
from cutline.campaign.files.importing import Imported, import_recorded
from cutline.errors import ConflictError, NotFoundError, StoreError
from cutline.recorded.readers import read_recorded
from ledger import audit, dump

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
        assert import_recorded(url, None, read_recorded(labels), settings=NEW) == Imported("main", count, count, True)
        with Campaign.open(url, "main") as campaign:
            before = dump(campaign)
            assert import_recorded(url, None, read_recorded(labels)) == Imported("main", count, 0, False)
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
            assert import_recorded(url, "c", read_recorded(path)) == Imported("c", 9, 0, False)
            assert dump(campaign) == before

    def test_a_row_that_does_not_fit_changes_nothing(self, url: str, made: Campaign, tmp_path: Path) -> None:
        made.observe("arm 0", 1, key="k")
        before = dump(made)
        path = tmp_path / "labels.csv"
        for last, error in (("arm 1,0,k", ConflictError), ("arm 0,0,k", ConflictError), ("arm 20,1,l", NotFoundError)):
            path.write_text(f"task,label,key\narm 3,1,new\n{last}\n")
            with pytest.raises(error):
                import_recorded(url, "flaky", read_recorded(path))
            assert dump(made) == before

    @pytest.mark.parametrize("used", [False, True])
    def test_a_campaign_that_was_made_for_results_that_fail_stays_only_if_somebody_uses_it(
        self, url: str, labels: Path, monkeypatch: pytest.MonkeyPatch, used: bool
    ) -> None:
        def fail(campaign: Campaign, rows: object) -> int:
            if used:
                with Campaign.open(url, "main") as other:
                    other.tell(one(other), 1)
            raise StoreError("the disk is full")

        monkeypatch.setattr(Campaign, "observe_many", fail)
        with pytest.raises(StoreError, match="the disk is full"):
            import_recorded(url, None, read_recorded(labels), settings=NEW)
        assert [(status.name, status.spent) for status in campaigns(url)] == ([("main", 1)] if used else [])
