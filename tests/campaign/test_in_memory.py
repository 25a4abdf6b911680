"""Campaigns in memory."""

import pytest

from campaign_contract import CampaignContract


@pytest.mark.slow
class TestInMemory(CampaignContract):
    @pytest.fixture
    def url(self) -> None:
        return None
