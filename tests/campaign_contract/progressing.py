"""The curve of expected errors."""

import random

import pytest

from campaign_contract.campaigns import CampaignTests, Clock, Create, one


def expected_counts(most: int) -> list[int]:
    """The counts that have a point: those whose binary digits after the first six are 0."""
    return [count for count in range(most + 1) if int(bin(count)[2:][6:] or "0", 2) == 0]


class Progressing(CampaignTests):
    def test_there_is_a_point_at_each_of_the_first_counts_and_then_at_some(self, create: Create, clock: Clock) -> None:
        campaign = create(5, budget=300, prior=(1, 1))
        answers = random.Random(2)
        stood = {0: (clock.now, 0, 2.5)}
        for told in range(1, 201):
            clock.now += 1
            campaign.tell(one(campaign), answers.random() < 0.7)
            decided = sum(item.above is not None for item in campaign.decisions())
            stood[told] = (clock.now, decided, campaign.status().expected_errors)
        *points, now = campaign.progress()
        assert [point.spent for point in points] == expected_counts(200)
        assert len(points) == 64 + 32 + 19
        assert {point.spent: (point.time, point.decided, point.expected_errors) for point in points} == {
            count: stood[count] for count in expected_counts(200)
        }
        assert (now.spent, now.observed, now.expected_errors) == (200, 0, stood[200][2])

    def test_results_from_elsewhere_are_on_it_and_batches_make_one_point(self, create: Create) -> None:
        campaign = create(5)
        campaign.observe_many([("arm 0", 1), ("arm 1", 0), ("arm 0", 1)])
        campaign.tell_many([(pull, 1) for pull in campaign.ask(100)])
        assert [(point.spent, point.observed, point.decided) for point in campaign.progress()] == [
            (0, 0, 0),
            (0, 3, 2),
            (100, 3, 5),
            (100, 3, 5),
        ]

    def test_the_last_point_is_the_present(self, create: Create, clock: Clock) -> None:
        campaign = create(2, prior=(1, 1))
        pull = one(campaign)
        campaign.tell(pull, 1)
        clock.now += 100
        campaign.correct(pull, 0.25)
        *_, told, now = campaign.progress()
        assert (told.time, now.time) == (clock.now - 100, clock.now)
        assert now.expected_errors == campaign.status().expected_errors
        assert told.expected_errors == pytest.approx(0.25 + 0.5)  # Beta(2, 1) is below 1/2 with probability 1/4
