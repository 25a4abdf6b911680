"""Campaigns with Bayes: what a campaign promises with any policy holds with one that learns from all arms, too.

What databases do with what a policy learns is in the contract that runs on all (``campaign_contract.learning``).
"""

from pathlib import Path

import pytest

from campaign_contract.correcting import Correcting
from campaign_contract.leasing import Leasing
from campaign_contract.observing import Observing
from campaign_contract.processes import Processes, StartsWorkers
from campaign_contract.stopping import Stopping
from campaign_contract.telling import Telling


@pytest.mark.slow
class TestWithBayes(Telling, Correcting, Leasing, Stopping, Observing):
    policy = "Bayes"

    @pytest.fixture
    def url(self) -> None:
        return None


class TestSharedWithBayes(StartsWorkers):
    policy, rounds = "Bayes", 1

    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return str(tmp_path / "campaigns.db")

    test_workers_killed = Processes.test_workers_killed_at_any_moment_lose_nothing_that_was_acknowledged
