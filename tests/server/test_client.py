"""Campaigns on a server keep the contract of those in a database."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from campaign_contract.asking import Asking
from campaign_contract.campaigns import Clock, Create, arms
from campaign_contract.changing import Changing
from campaign_contract.clocks import Clocks
from campaign_contract.correcting import Correcting
from campaign_contract.creating import Creating, ManyArms
from campaign_contract.deciding import Deciding
from campaign_contract.importing import Importing
from campaign_contract.knowing import Knowing
from campaign_contract.learning import Learning
from campaign_contract.leasing import Leasing
from campaign_contract.observing import Observing
from campaign_contract.opening import Opening
from campaign_contract.paging import Paging
from campaign_contract.progressing import Progressing
from campaign_contract.pulling import Pulling
from campaign_contract.remembering import Remembering
from campaign_contract.requesting import Requesting
from campaign_contract.rosters import Rosters
from campaign_contract.stopping import Stopping
from campaign_contract.telling import Telling
from campaign_contract.under_fire import UnderFire
from campaign_contract.weighing import Weighing
from campaign_contract.whole import Whole
from campaign_contract.working import Working
from cutline.campaign import Campaign
from cutline.campaign.remote.campaign import RemoteCampaign
from cutline.campaign.remote.reader import RemoteReader
from cutline.errors import NotFoundError
from cutline.server.settings import ServerSettings
from ledger import BEHIND, audit
from servers import serving


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Serve a new database by the clock that is given; return the address."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CUTLINE_TOKEN", raising=False)
        running = []

        def start(clock: Callable[[], float] | None = None) -> str:
            db = str(tmp_path / "served.db")
            running.append(serving(ServerSettings(db, clock=clock)))
            address = running[-1].__enter__()
            BEHIND[address] = db
            return address

        yield start
        for server in running:
            server.__exit__(None, None, None)


def test_every_method_of_a_campaign_is_there_on_a_server() -> None:
    """What is not made of other methods is written anew for a server."""
    made_of_others = {"create", "open", "observe", "run", "run_batches", "arun"}
    methods = {name for kind in Campaign.__mro__[:-1] for name in vars(kind) if not name.startswith("_")}
    assert methods - made_of_others <= set(vars(RemoteCampaign)) | set(vars(RemoteReader))


class OverHTTP:
    @pytest.fixture
    def url(self, serve: Callable[..., str], clock: Clock) -> str:
        return serve(clock)

    @pytest.fixture
    def create(self, url: str) -> Iterator[Create]:
        made: list[Campaign] = []

        def create(
            given: Any = 3, threshold: float = 0.5, policy: Any = "LSA", budget: int = 1000, **more: Any
        ) -> Campaign:
            name = more.pop("name", f"campaign {len(made)}")
            given = arms(given) if isinstance(given, int) else given
            made.append(Campaign.create(url, name, given, threshold, policy, budget, **more))
            return made[-1]

        yield create
        for campaign in made:
            assert isinstance(campaign, RemoteCampaign)
            audit(campaign)
            campaign.close()


@pytest.mark.slow
class TestOverHTTP(OverHTTP, Telling, Correcting, Remembering, Leasing, Stopping, Observing):
    """The part that depends the most on what is sent."""


@pytest.mark.slow
class TestShortOverHTTP(OverHTTP, Requesting, Progressing, Working, Paging, Pulling, Whole):
    """What takes little."""


@pytest.mark.rough  # minutes of what the databases are tried with anyway
class TestAllOverHTTP(
    OverHTTP, Asking, Deciding, Weighing, Knowing, Learning, Creating, ManyArms, Changing, Rosters, UnderFire
):
    """The rest of the contract."""


@pytest.mark.slow
class TestSharedOverHTTP(Clocks, Opening, Importing):
    @pytest.fixture
    def url(self, serve: Callable[..., str]) -> str:
        return serve()


def test_results_on_a_server_are_weighed_as_in_the_database_behind_it(serve: Callable[..., str]) -> None:
    address = serve()
    with Campaign.create(address, "birds", ["a", "b", "c"], 0.5, "LSA", 10) as campaign:
        campaign.observe_many([("a", 1, "ann"), ("a", 0, "bob"), ("b", 0, "ann"), ("b", 0, "cid"), ("c", 0.5)])
        with Campaign.open(BEHIND[address], "birds") as behind:
            assert campaign.weigh({"a": False}, ["bob"], 0.9) == behind.weigh({"a": False}, ["bob"], 0.9)
        with pytest.raises(NotFoundError, match="campaign 'birds' has no answer by 'eve'"):
            campaign.weigh(exclude=["eve"])


def test_a_campaign_on_a_server_is_changed_renamed_copied_and_deleted(serve: Callable[..., str]) -> None:
    with Campaign.create(serve(), "birds", ["a", "b"], 0.5, "LSA", 10) as campaign:
        campaign.tell(campaign.ask()[0], 1)
        assert [(item.what, item.before, item.after) for item in campaign.change(budget=20)] == [("budget", 10, 20)]
        assert campaign.settings.budget == 20
        campaign.rename("more birds")
        with campaign.copy("no results", results=False) as copied:
            assert (campaign.status().spent, copied.status().spent) == (1, 0)
            assert [item.what for item in copied.history()] == ["copied from"]
        assert [item.what for item in campaign.history()] == ["budget", "name"]
        campaign.delete()
        with pytest.raises(NotFoundError, match="campaign 'more birds' has been deleted"):
            campaign.status()
