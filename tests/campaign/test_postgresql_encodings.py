"""PostgreSQL databases in any encoding: campaigns work in full, or are refused in one line."""

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import make_url

import postgres
from campaign_contract.campaigns import STRANGE_IDS
from campaign_contract.correcting import Correcting
from campaign_contract.creating import Creating
from campaign_contract.observing import Observing
from campaign_contract.paging import Paging
from campaign_contract.remembering import Remembering
from campaign_contract.requesting import Requesting
from campaign_contract.rosters import Rosters
from campaign_contract.telling import Telling
from campaign_contract.whole import Whole
from campaign_contract.working import Working
from cutline.campaign import Campaign, campaigns
from cutline.errors import StoreError
from ledger import audit


@pytest.fixture(scope="module")
def encoded(postgres_server: str) -> Iterator[dict[str, str]]:
    """The urls of databases by their encoding."""
    encodings = ("SQL_ASCII", "LATIN1", "EUC_JP", "WIN1252", "UTF8")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        for encoding in encodings:
            connection.execute(
                f"CREATE DATABASE cutline_{encoding} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
            )
        given = make_url(postgres_server)
        yield {
            encoding: given.set(database=f"cutline_{encoding.lower()}").render_as_string(hide_password=False)
            for encoding in encodings
        }
        for encoding in encodings:
            connection.execute(f"DROP DATABASE cutline_{encoding} WITH (FORCE)")


@pytest.fixture(scope="module")
def tables(encoded: dict[str, str]) -> Iterator[str]:
    with postgres.schema(encoded["SQL_ASCII"], "cutline_test") as url:
        yield url


class TestInBytesThatNobodyConverts(
    Creating, Observing, Telling, Correcting, Remembering, Paging, Requesting, Rosters, Working, Whole
):
    """The part of the contract in which texts come and go: ids, names of workers, notes, keys; what is searched."""

    @pytest.fixture
    def url(self, tables: str) -> Iterator[str]:
        yield tables
        postgres.empty(tables)


@pytest.mark.parametrize("encoding", ["LATIN1", "EUC_JP", "WIN1252"])
def test_a_database_that_cannot_hold_every_text_is_refused_and_stays_empty(
    encoded: dict[str, str], encoding: str
) -> None:
    url = encoded[encoding]
    for use in (
        lambda: campaigns(url),
        lambda: Campaign.open(url, "c"),
        lambda: Campaign.create(url, "c", ["a"], 0.5, "LSA", 1),
    ):
        with pytest.raises(StoreError) as caught:
            use()
        assert str(caught.value).partition(": ")[2] == (
            f"the encoding of the database is {encoding}, which cannot hold every text; it must be UTF8: "
            "CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0"
        )
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert tables == (0,)


@pytest.mark.parametrize("encoding", ["UTF8", "SQL_ASCII"])
@pytest.mark.parametrize("client", ["LATIN1", "SQL_ASCII"])
def test_ids_come_back_whatever_encoding_the_user_has_set(
    encoded: dict[str, str], encoding: str, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", client)
    url = f"{encoded[encoding]}&client_encoding={client}"
    with Campaign.create(url, f"with {client}", STRANGE_IDS, 0.5, "LSA", 100) as campaign:
        assert {pull.arm for pull in campaign.ask(len(STRANGE_IDS), worker="é")} == set(STRANGE_IDS)
        audit(campaign)
    with Campaign.open(url, f"with {client}") as campaign:
        assert [item.arm for item in campaign.decisions()] == STRANGE_IDS
