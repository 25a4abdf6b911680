"""An import into a campaign that is there: whole or not at all, in short steps between which others go on."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from campaign_contract.campaigns import SharedCampaignTests, one
from cutline.campaign import Campaign, delete
from cutline.campaign.files.importing import Imported, import_file
from cutline.campaign.operations.observing import joining
from cutline.campaign.operations.upkeep import finishing
from cutline.errors import ConflictError, NotFoundError, StoreError
from ledger import audit, rows, under_way


class StopError(BaseException):
    """What ends an import in its midst, as Ctrl-C does."""


class KilledError(BaseException):
    """What ends an import in its midst, without time to tidy up."""


@contextmanager
def killed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let an import end as if its process had been killed long ago: nothing is undone, and its time is over."""
    with monkeypatch.context() as patch:
        patch.setattr(joining, "undo", lambda *_: None)
        patch.setattr(finishing, "PATIENCE", -1.0)
        patch.setattr(joining, "PATIENCE", -1.0)
        with pytest.raises(KilledError):
            yield


def kill(*_: object, **__: object) -> Any:
    """Be killed."""
    raise KilledError


class Joining(SharedCampaignTests):
    @pytest.fixture
    def short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Steps so short that an import of a few rows takes many."""
        monkeypatch.setattr("cutline.campaign.files.importing.CHUNK", 3)
        monkeypatch.setattr(finishing, "_ARMS", 2)
        monkeypatch.setattr(finishing, "_PULLS", 4)

    @pytest.fixture
    def ann(self, short: None, tmp_path: Path) -> Path:
        """Ten labels of worker ann: of arm 0 to arm 9, of which the even ones are 1."""
        return labels_of(tmp_path, {i: 1 - i % 2 for i in range(10)})

    @pytest.mark.parametrize("arms", [0, 2, 6])
    def test_who_looks_sees_nothing_of_an_import_or_all_of_it(
        self, url: str, made: Campaign, ann: Path, monkeypatch: pytest.MonkeyPatch, arms: int
    ) -> None:
        """After so many arms it is killed; it is decided then."""
        empty = look(made)
        seen: list[object] = []
        write = finishing._change_some
        written: list[int] = []

        def write_some(*given: Any) -> int:
            if sum(written) == arms:
                raise KilledError
            written.append(write(*given))
            return written[-1]

        with killed(monkeypatch):
            monkeypatch.setattr(finishing, "_change_some", write_some)
            import_file(url, "flaky", ann, progress=lambda _: seen.append(look(made)))
        assert seen == [empty] * 4
        assert sum(written) == arms
        whole = look(made)
        assert whole[0] == 10
        assert whole[1] == [(f"arm {i}", 1 - i % 2, "ann") for i in range(10)]
        assert whole[2] == [(1, 1.0), (1, 0.0)] * 5 + [(0, None)] * 10
        monkeypatch.setattr(finishing, "_change_some", write)
        with Campaign.open(url, "flaky") as again:
            audit(again)
            assert look(again) == whole

    def test_a_dead_import_that_was_not_decided_is_undone_by_who_opens_or_asks(
        self, url: str, made: Campaign, ann: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one(made, worker="bob")
        empty = look(made)
        for wake in (lambda: Campaign.open(url, "flaky").close(), lambda: made.ask(worker="ann")):
            with killed(monkeypatch), monkeypatch.context() as patch:
                patch.setattr(joining, "_decide", kill)
                import_file(url, "flaky", ann)
            assert under_way(made) == (1, 10, 0)
            assert look(made) == empty
            wake()
            audit(made)
            assert look(made) == empty
        assert import_file(url, "flaky", ann).new == 10

    def test_a_dead_import_that_was_decided_is_finished_by_who_asks(
        self, url: str, made: Campaign, ann: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with killed(monkeypatch), monkeypatch.context() as patch:
            patch.setattr(joining, "finish", kill)
            import_file(url, "flaky", ann)
        assert rows(made, "SELECT sum(pulls) FROM cutline_arms WHERE campaign_id = :campaign") == [(0,)]
        assert {pull.arm for pull in made.ask(10, worker="ann")} == {f"arm {i}" for i in range(10, 20)}
        audit(made)
        assert import_file(url, "flaky", ann) == Imported("flaky", 10, 0, None)

    def test_an_import_that_is_stopped_leaves_nothing_and_one_that_is_decided_is_finished_at_once(
        self, url: str, made: Campaign, ann: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = look(made)

        def stop(*_: object, **__: object) -> Any:
            raise StopError

        for where, count in (("_decide", 0), ("finish", 10)):
            with monkeypatch.context() as patch:
                patch.setattr(joining, where, stop)
                with pytest.raises(StopError):
                    import_file(url, "flaky", ann)
            with Campaign.open(url, "flaky") as campaign:
                audit(campaign)
                assert campaign.status().observed == count
            assert count or look(made) == before

    @pytest.mark.usefixtures("short")
    def test_answers_told_during_an_import_are_the_same_answers(self, url: str, made: Campaign, tmp_path: Path) -> None:
        """Ann has four pulls in flight: one is told alike, one abandoned, one stays; one is told otherwise."""
        pulls = {pull.arm: pull for pull in made.ask(4, worker="ann")}
        alike, abandoned, stays, otherwise = pulls.values()

        def meanwhile(amount: int) -> None:
            made.tell(alike, 1)
            made.abandon(abandoned)

        path = labels_of(tmp_path, dict.fromkeys((alike.arm, abandoned.arm, stays.arm, "arm 19"), 1))
        assert import_file(url, "flaky", path, progress=meanwhile) == Imported("flaky", 4, 3, None)
        audit(made)
        status = made.status()
        assert (status.spent, status.in_flight, status.observed) == (2, 1, 2)
        before = look(made)
        path = labels_of(tmp_path, {"arm 18": 1, otherwise.arm: 1})
        with pytest.raises(ConflictError, match=f"line 3: worker 'ann' has answered arm '{otherwise.arm}' with 0 and"):
            import_file(url, "flaky", path, progress=lambda _: made.tell(otherwise, 0))
        audit(made)
        assert made.status().observed == before[0]

    def test_whoever_brings_the_same_result_waits_until_the_import_is_decided(
        self, url: str, made: Campaign, ann: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cutline.campaign.database.store.PATIENCE", 0.05)
        said = []

        def meanwhile(amount: int) -> None:
            with pytest.raises(StoreError) as refused:
                made.observe("arm 0", 0, "ann")
            said.append(str(refused.value))
            made.observe("arm 0", 0, "bob")

        assert import_file(url, "flaky", ann, progress=meanwhile).new == 10
        assert len(said) == 4
        assert all("busy" in text for text in said)
        with pytest.raises(ConflictError, match="has answered arm 'arm 0' with 1 and now 0"):
            made.observe("arm 0", 0, "ann")
        audit(made)

    def test_a_late_answer_is_held_against_an_import_as_soon_as_it_is_decided(
        self, url: str, made: Campaign, ann: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cutline.campaign.database.store.PATIENCE", 0.05)
        late = {pull.arm: pull for pull in made.ask(20, worker="ann", lease=1e-3)}
        time.sleep(0.01)
        made.ask(1, worker="bob")

        def meanwhile(amount: int) -> None:
            with pytest.raises(StoreError, match="busy"):
                made.tell(late["arm 0"], 1)

        with killed(monkeypatch), monkeypatch.context() as patch:
            patch.setattr(joining, "finish", kill)
            import_file(url, "flaky", ann, progress=meanwhile)
        assert not made.tell(late["arm 0"], 1)
        with pytest.raises(ConflictError, match="its worker has had the arm again"):
            made.tell(late["arm 1"], 1)
        Campaign.open(url, "flaky").close()

    def test_two_imports_into_a_campaign_come_one_after_the_other(
        self, url: str, made: Campaign, ann: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waited = []

        def wait() -> None:
            waited.append(made.status().observed)
            if len(waited) == 2:
                raise StopError

        monkeypatch.setattr(joining, "_wait", wait)

        def meanwhile(amount: int) -> None:
            if not waited:
                with pytest.raises(StopError):
                    import_file(url, "flaky", ann)

        assert import_file(url, "flaky", ann, progress=meanwhile).new == 10
        assert waited == [0, 0]
        audit(made)

    def test_an_import_that_was_thought_dead_or_whose_campaign_is_deleted_says_so(
        self, url: str, made: Campaign, ann: Path
    ) -> None:
        def forget(campaign: Campaign) -> None:
            campaign._store.write(lambda connection: connection.execute(text("UPDATE cutline_imports SET until = 1")))
            Campaign.open(url, "flaky").close()

        with pytest.raises(StoreError, match="ended by another process; import the file again"):
            import_file(url, "flaky", ann, progress=lambda _: forget(made))
        audit(made)
        assert made.status().observed == 0
        Campaign.create(url, "other", [f"arm {i}" for i in range(10)], 0.5, "LSA", 10).close()
        with pytest.raises(NotFoundError, match="has been deleted"):
            import_file(url, "other", ann, progress=lambda _: delete(url, "other"))
        assert under_way(made) == (0, 0, 0)
        assert rows(made, "SELECT count(*) FROM cutline_pulls") == [(0,)]

    @pytest.mark.usefixtures("short")
    def test_replacing_changes_what_others_see_at_once(
        self, url: str, made: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "l.csv"
        path.write_text("task,label\n" + "".join(f"arm {i},1\n" * 4 for i in range(4)))
        assert import_file(url, "flaky", path).new == 16
        before = look(made)
        path.write_text("task,label\n" + "".join(f"arm {i},0\n" * 2 for i in range(3)))
        seen: list[Any] = []
        with killed(monkeypatch), monkeypatch.context() as patch:
            patch.setattr(joining, "finish", kill)
            import_file(url, "flaky", path, replace=True, progress=lambda _: seen.append(look(made)))
        assert seen == [before] * 2
        observed, results, records = look(made)
        assert observed == 10
        assert [reward for _, reward, _ in results] == [0, 0] * 3 + [1] * 4
        assert records[:5] == [(2, 0.0)] * 3 + [(4, 1.0), (0, None)]
        with Campaign.open(url, "flaky") as campaign:
            audit(campaign)
            assert look(campaign) == (observed, results, records)


def labels_of(folder: Path, labels: dict[Any, int]) -> Path:
    """A file of labels of worker ann; an arm is a number or an id."""
    path = folder / "ann.csv"
    rows = (f"{f'arm {arm}' if isinstance(arm, int) else arm},ann,{label}\n" for arm, label in labels.items())
    path.write_text("task,worker,label\n" + "".join(rows))
    return path


def look(campaign: Campaign) -> tuple[int, list[tuple[str, float, str | None]], list[tuple[int, float | None]]]:
    """What a campaign says: how many results from elsewhere it has, all results, and the record of each arm."""
    results = sorted((item.arm, item.reward, item.worker) for item in campaign.results())
    records = [(decision.pulls, decision.mean) for decision in campaign.decisions()]
    return campaign.status().observed, results, records
