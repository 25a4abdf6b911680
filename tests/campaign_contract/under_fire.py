"""Everything about a campaign is changed in the midst of askers and tellers, in threads and in processes."""

import contextlib
import itertools
import random
import threading
import time
from pathlib import Path

import pytest

from campaign_contract.campaigns import CampaignTests, Create, arms
from campaign_contract.changing import CHANGES, PRIOR, arm_rows
from campaign_contract.processes import Start, StartsWorkers
from cutline.campaign import Campaign, Reason
from cutline.campaign.operations.upkeep import learning
from cutline.errors import ConflictError
from forking import kill
from ledger import audit, rows


class UnderFire(CampaignTests):
    @pytest.mark.slow
    def test_askers_and_tellers_go_on_while_everything_is_changed(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(learning, "_BATCH", 7)
        campaign = create(30, budget=100, max_pulls_per_arm=20)
        stop, lost, told, corrected = threading.Event(), [], {}, set()

        def work(seed: int) -> None:
            answers = random.Random(seed)
            while not stop.is_set():
                try:
                    for pull in campaign.ask(answers.choice((1, 1, 3))):
                        if answers.random() < 0.1:
                            campaign.abandon(pull)
                        else:
                            reward, note = answers.random() < 0.6, f"said by {seed}"
                            campaign.tell(pull, reward, note)
                            told[pull.id] = (pull.arm, reward, note)
                        if answers.random() < 0.1 and pull.id in told:
                            campaign.correct(pull, not reward, f"{note}, and again")
                            told[pull.id] = (pull.arm, not reward, f"{note}, and again")
                            corrected.add(pull.id)
                except Exception as error:
                    lost.append(error)

        workers = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
        for worker in workers:
            worker.start()
        try:
            changing = itertools.cycle(CHANGES)
            for step in range(18):
                status = campaign.status()
                assert status.spent + status.in_flight <= status.settings.budget
                campaign.change(budget=status.spent + 40, **next(changing))
                campaign.change(retire=[f"arm {step}"], bring_back=arms(step), add=[f"new {step}"])
                if step % 3 == 2:
                    self.lower(campaign)
        finally:
            stop.set()
            for worker in workers:
                worker.join()
        assert lost == []
        campaign.change(bring_back=["arm 17"], retire=["arm 4"])
        campaign.change(budget=1000, threshold=0.5, policy="LSA", decide="likelier", max_pulls_per_arm=None, **PRIOR)
        audit(campaign)
        assert told == {item.key: (item.arm, item.reward, item.note) for item in campaign.results()}
        assert corrected  # or it was not tried
        expected = create([*arms(30), *(f"new {step}" for step in range(18))], **PRIOR)
        expected.observe_many((item.arm, item.reward) for item in campaign.results())
        expected.change(retire=["arm 4"])
        assert arm_rows(campaign) == arm_rows(expected)

    def lower(self, campaign: Campaign) -> None:
        """Lower the budget to what is spent and in flight, or find that somebody was faster."""
        status = campaign.status()
        with contextlib.suppress(ConflictError):
            campaign.change(budget=status.spent + status.in_flight)


class SharedUnderFire(StartsWorkers):
    def test_whoever_opened_a_campaign_before_sees_a_change_at_his_next_call(self, url: str, made: Campaign) -> None:
        made.observe_many((arm, 0.6) for arm in arms(20) * 5)
        others = [Campaign.open(url, "flaky") for _ in range(5)]
        asks, decides, looks, tells, observes = others
        pull = tells.ask()[0]
        made.change(budget=3, threshold=0.7, policy="Uniform", max_pulls_per_arm=7, prior=(1, 1))
        made.rename("new")
        assert len(asks.ask(20)) == 2
        assert [item.above for item in decides.decisions()] == [False] * 20
        assert (looks.status().name, looks.status().settings, looks.status().left) == ("new", made.settings, 0)
        assert tells.tell(pull, 1)
        assert observes.observe_many([("arm 1", 0.6), ("arm 1", 0.6)]) == 2
        assert [(other.name, other.settings) for other in others] == [("new", made.settings)] * 5
        query = "SELECT count(*) FROM cutline_arms WHERE campaign_id = :campaign AND index_value > 1e300"
        assert rows(made, query) == [(1,)]
        for other in others:
            other.close()

    @pytest.mark.slow
    def test_a_process_that_dies_while_it_changes_a_campaign_leaves_one_that_goes_on(
        self, url: str, made: Campaign, start: Start, tmp_path: Path
    ) -> None:
        outputs = [tmp_path / name for name in "abc"]
        changers, (worker,) = start("changing", outputs[:2]), start("endless", outputs[2:])
        for changer, output, enough in zip(changers, outputs, (30, 60), strict=False):
            while output.read_bytes().count(b"\n") < enough and changer.is_alive():
                time.sleep(0.001)
            assert changer.is_alive()
            kill(changer)
        assert worker.is_alive()
        made.change(budget=made.status().spent + 300, threshold=0.4, policy="LSA", decide="mean", **PRIOR)
        made.change(max_pulls_per_arm=None, target_errors=None)
        worker.join(60)
        assert worker.exitcode == 0
        said = [line.split() for line in outputs[2].read_text().splitlines()]
        told = {pair.partition("=")[0] for what, *pairs in said if what == "told" for pair in pairs}
        assert told == {item.key for item in made.results() if not item.observed}
        assert made.ask().reason is Reason.BUDGET_SPENT
        with Campaign.create(url, "expected", arms(20), 0.4, "LSA", 1, seed=4, decide="mean", **PRIOR) as expected:
            expected.observe_many((item.arm, item.reward) for item in made.results())
            assert arm_rows(made) == arm_rows(expected)
