"""Campaigns in memory: SQLite's tables and statements, on one connection that threads take in turn."""

import pytest

from campaign_contract import CampaignContract
from campaign_contract.asking import Asking
from campaign_contract.changing import Changing
from campaign_contract.creating import Creating
from campaign_contract.remembering import Remembering
from campaign_contract.telling import Telling
from campaign_contract.under_fire import UnderFire
from campaign_contract.weighed import WeighedByGames
from campaign_contract.whole import Whole


class InMemory:
    @pytest.fixture
    def url(self) -> None:
        return None


@pytest.mark.slow
class TestInMemory(InMemory, Asking, Telling, Remembering, Creating, Changing, Whole, UnderFire):
    """The part that depends the most on how a database is reached."""


@pytest.mark.slow
class TestDecidingBetter(InMemory, WeighedByGames):
    """What policies make of a campaign, which is the same wherever it is kept."""


@pytest.mark.rough  # half a minute of what SQLite is tried with in a file anyway
class TestAllInMemory(InMemory, CampaignContract):
    """The whole contract."""
