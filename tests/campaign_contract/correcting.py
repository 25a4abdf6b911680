"""A reward that was told is replaced, and the old one is kept."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from campaign_contract.campaigns import CampaignTests, Clock, Create, one
from cutline.campaign import Campaign, Observation, Pull, PullState, Reason
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from ledger import dump


class Correcting(CampaignTests):
    def test_a_corrected_campaign_is_what_it_would_be_had_the_right_rewards_been_told(self, create: Create) -> None:
        """But for what a policy has learnt from a wrong reward, which stays written down."""
        right, wrong = (create(8, policy="LSA", budget=60, prior=(1, 1), name=name) for name in ("right", "wrong"))
        answers = random.Random(3)
        for mine, other in zip(right.ask(40), wrong.ask(40), strict=True):
            reward = answers.choice((0, 1, 0.25))
            right.tell(mine, reward)
            wrong.tell(other, answers.choice((0, 1, 0.5)))
            wrong.correct(other, reward)
        assert [row[1:] for row in dump(wrong)[0]] == [row[1:] for row in dump(right)[0]]
        assert dump(wrong)[1:] == dump(right)[1:]

    def test_the_same_correction_again_changes_nothing(self, create: Create) -> None:
        campaign = create()
        pull = one(campaign)
        campaign.tell(pull, 1, "first")
        assert campaign.correct(pull, 1) is False
        assert campaign.correct(pull.id, 0) is True
        before = dump(campaign)
        assert campaign.correct(pull, False) is False
        assert campaign.correct(pull, 0, "first") is False
        assert dump(campaign) == before

    def test_a_note_stays_unless_another_is_given_and_an_empty_one_removes_it(self, create: Create) -> None:
        campaign = create()
        pull = one(campaign)
        campaign.tell(pull, 1, "first")
        given: list[tuple[float, str | None, str | None]] = [(0, None, "first"), (0, "second", "second"), (1, "", None)]
        for reward, note, kept in given:
            assert campaign.correct(pull, reward, note)
            assert [(item.reward, item.note) for item in campaign.results()] == [(reward, kept)]

    def test_only_what_was_told_can_be_corrected(self, create: Create, clock: Clock) -> None:
        campaign = create(4)
        flying, abandoned, settled = campaign.ask(3, worker="ann")
        campaign.abandon(abandoned)
        ended = one(campaign, lease=10)
        clock.now += 11
        one(campaign, worker="bob")  # which takes it back
        campaign.observe("arm 0", 1, "cid")
        elsewhere = next(item.key for item in campaign.results())
        for pull, message in (
            (flying.id, "has no reward yet; tell it"),
            (abandoned.id, "was abandoned and has no reward"),
            (ended.id, "has lost its lease and has no reward; tell it"),
            (elsewhere, "is a result from elsewhere; correct it where it comes from"),
        ):
            with pytest.raises(ConflictError, match=message):
                campaign.correct(pull, 1)
        for unknown in ("", "1", flying.id + "1", f"{flying.id.partition('-')[0]}-99-0"):
            with pytest.raises(NotFoundError, match="has no pull"):
                campaign.correct(unknown, 1)
        with pytest.raises(InvalidInputError, match="is not a number in"):
            campaign.correct(flying, 2)
        with pytest.raises(InvalidInputError, match=r"^worker ''"):
            campaign.correct(flying, 1, worker="")
        campaign.observe(settled.arm, 1, "ann")
        assert campaign.correct(settled, 0)  # the answer was observed, but the pull is the campaign's

    def test_what_was_corrected_is_told_and_exported_as_it_is_now(self, create: Create) -> None:
        campaign = create(2)
        pull = one(campaign, worker="ann")
        campaign.tell(pull, 1)
        campaign.correct(pull, 0)
        assert campaign.tell(pull, 0) is False
        with pytest.raises(ConflictError, match="was told 0 and now 1; a pull has one reward, which only a correction"):
            campaign.tell(pull, 1)
        exported = [Observation(item.arm, item.reward, item.worker, item.key) for item in campaign.results()]
        assert campaign.observe_many(exported) == 0
        with pytest.raises(ConflictError, match="worker 'ann' has answered"):
            campaign.observe(pull.arm, 1, "ann")

    def test_a_campaign_that_has_spent_its_budget_can_be_corrected_and_stays_finished(self, create: Create) -> None:
        campaign = create(1, budget=2)
        pulls = campaign.ask(2)
        campaign.tell_many([(pull, 0) for pull in pulls])
        assert campaign.correct(pulls[0], 1)
        assert campaign.correct(pulls[1], 1)
        assert campaign.status().finished is Reason.BUDGET_SPENT
        assert campaign.decisions()[0].mean == 1

    def test_a_campaign_that_had_reached_its_target_goes_on_if_a_correction_takes_it_away(self, create: Create) -> None:
        campaign = create(1, budget=100, target_errors=0.1, prior=(1, 1))
        told: list[Pull] = []
        while pulls := campaign.ask(1):
            campaign.tell(pulls[0], 1)
            told += pulls
        assert campaign.status().finished is Reason.TARGET_REACHED
        campaign.correct(told[0], 0)
        assert campaign.status().finished is None
        assert len(campaign.ask(1)) == 1

    def test_who_corrects_and_who_tells_at_once_leave_every_sum_right(self, create: Create) -> None:
        campaign = create(5, budget=200)
        pulls = campaign.ask(20)
        campaign.tell_many([(pull, 0) for pull in pulls])

        def work(seed: int) -> int:
            answers = random.Random(seed)
            if seed % 2:
                return sum(campaign.tell(one(campaign), answers.random()) for _ in range(10))
            return sum(campaign.correct(pull, answers.randrange(1, 100) / 100) for pull in pulls[:10])

        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(work, range(4)))
        corrected = [item for pull in pulls[:10] for item in self.answers(campaign, pull)]
        assert len(corrected) == 10 + done[0] + done[2]
        assert (done[1], done[3], campaign.status().spent) == (10, 10, 40)

    def answers(self, campaign: Campaign, pull: Pull) -> list[float]:
        (found,) = [item for item in campaign.arm(pull.arm).pulls if item.key == pull.id]
        assert found.state is PullState.TOLD
        return [answer.reward for answer in found.answers]
