"""An ask that is repeated, since its answer was lost."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from campaign_contract.campaigns import STRANGE_IDS, CampaignTests, Clock, Create, one
from cutline.campaign import Reason
from cutline.errors import ConflictError, InvalidInputError
from ledger import dump, rows

DAY = 86_400


class Requesting(CampaignTests):
    def test_the_same_request_again_gets_the_same_pulls_and_leases_nothing(self, create: Create) -> None:
        campaign = create({"a": {"n": 1}, "b": None, "c": 0})
        first = campaign.ask(5, worker="ann", request="r 1")
        before = dump(campaign)
        again = campaign.ask(5, worker="ann", request="r 1")
        assert (again, again.reason) == (first, first.reason)
        assert (len(first), first.reason) == (3, Reason.NOTHING_FOR_WORKER)
        assert dump(campaign) == before
        other = campaign.ask(2, worker="bob", request="r 2")
        assert (len(other), campaign.status().in_flight) == (2, 5)

    def test_it_gets_them_whatever_has_become_of_them(self, create: Create, clock: Clock) -> None:
        campaign = create(4)
        first = campaign.ask(4, request="r", lease=10)
        campaign.tell(first[0], 1)
        campaign.abandon(first[1])
        campaign.extend(first[2], 50)
        clock.now += 11
        one(campaign)  # which takes back the last, whose lease has ended
        again = campaign.ask(4, request="r")
        assert [pull.id for pull in again] == [pull.id for pull in first]
        assert [pull.expires - clock.now for pull in again] == [-1, -1, 39, -1]
        assert [campaign.tell(again[place], 1) for place in (0, 2, 3)] == [False, True, True]
        with pytest.raises(ConflictError, match="was abandoned"):
            campaign.tell(again[1], 1)

    def test_an_ask_that_got_nothing_is_asked_anew(self, create: Create) -> None:
        campaign = create(1, budget=1)
        pull = one(campaign)
        assert campaign.ask(1, request="r").reason is Reason.ALL_IN_FLIGHT
        campaign.abandon(pull)
        assert len(campaign.ask(1, request="r")) == 1

    def test_a_request_of_another_number_or_worker_is_a_conflict(self, create: Create) -> None:
        campaign = create()
        campaign.ask(2, worker="ann", request="r")
        for n, worker, now in (
            (1, "ann", "1 of worker 'ann'"),
            (2, "bob", "2 of worker 'bob'"),
            (2, None, "2 of nobody"),
        ):
            with pytest.raises(ConflictError, match=f"request 'r' was for 2 of worker 'ann' and is now for {now}"):
                campaign.ask(n, worker=worker, request="r")
        with pytest.raises(InvalidInputError, match=r"^request ''"):
            campaign.ask(1, request="")
        assert len(create().ask(1, request="r")) == 1  # of another campaign

    def test_any_text_is_a_request(self, create: Create) -> None:
        campaign = create(30)
        got = {request: one(campaign, request=request) for request in STRANGE_IDS}
        assert {request: one(campaign, request=request) for request in STRANGE_IDS} == got
        assert campaign.status().in_flight == len(STRANGE_IDS)

    def test_a_request_is_known_for_a_day_after_its_leases(self, create: Create, clock: Clock) -> None:
        campaign = create()
        old = one(campaign, request="old", lease=10)
        clock.now += DAY
        assert one(campaign, request="old") == old
        one(campaign, request="second")
        clock.now += 11
        one(campaign, request="third")
        assert one(campaign, request="old") != old
        assert rows(campaign, "SELECT count(*) FROM cutline_requests WHERE campaign_id = :campaign") == [(3,)]

    def test_who_repeats_a_request_at_once_gets_the_same(self, create: Create) -> None:
        campaign = create(40)
        with ThreadPoolExecutor(4) as pool:
            got = list(pool.map(lambda number: campaign.ask(3, request=f"r {number % 4}"), range(16)))
        assert len({pull.id for pulls in got for pull in pulls}) == 12
        assert campaign.status().in_flight == 12
