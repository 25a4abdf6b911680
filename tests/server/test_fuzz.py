"""Whatever is sent to the API, it never fails, and it answers as its OpenAPI document says."""

import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from cutline.campaign import Campaign, campaigns, delete
from cutline.server.access.tokens import tokens_of
from cutline.server.api import events
from cutline.server.app import create_app
from cutline.server.settings import ServerSettings

EXAMPLES = 8
"""Requests of each kind (of what the document allows, and of what it does not) to each operation."""


class Fuzzed(NamedTuple):
    """An application, its operations by name, what must hold of every answer, and what opens it."""

    operations: dict[str, Any]
    checks: list[Any]
    headers: dict[str, str]
    db: str


def names() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        paths = create_app(ServerSettings(f"{folder}/x.db")).openapi()["paths"]
    return [f"{method.upper()} {path}" for path, item in paths.items() for method in item]


NOTHING_TO_GET_WRONG = {"GET /api/v1/campaigns", "GET /api/v1/backup"}
"""What takes neither a query nor a body."""

TRIALS = [
    (name, mode)
    for name in names()
    for mode in ("positive", "negative")
    if mode == "positive" or name not in NOTHING_TO_GET_WRONG
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "LONGEST", 0.0)
        yield create_app(ServerSettings(str(tmp_path_factory.mktemp("fuzz") / "x.db")))


@pytest.fixture(scope="module")
def fuzzed(app: FastAPI) -> Fuzzed:
    import schemathesis  # half a second, which other tests need not wait for
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    db = app.state.settings.db
    with tokens_of(db) as tokens:
        token = tokens.create("fuzz", "owner")
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
    found: list[Any] = list(schema.get_all_operations())
    operations = {operation.ok().label: operation.ok() for operation in found}
    conforming = [checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance]
    return Fuzzed(operations, [not_a_server_error, *conforming], {"Authorization": f"Bearer {token}"}, db)


@pytest.fixture
def there(fuzzed: Fuzzed) -> list[str]:
    """Make a campaign that requests may find; return ids of its pulls: one in flight, one told."""
    if "birds" in [status.name for status in campaigns(fuzzed.db)]:
        delete(fuzzed.db, "birds")
    with Campaign.create(fuzzed.db, "birds", ["a", "b"], 0.5, "LSA", 10**6) as campaign:
        told, flying = campaign.ask(2)
        campaign.tell(told, 1)
        return [told.id, flying.id]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")
@pytest.mark.parametrize(("name", "mode"), TRIALS)
def test_no_request_makes_it_fail_or_say_what_its_document_does_not(
    fuzzed: Fuzzed, there: list[str], name: str, mode: str
) -> None:
    from schemathesis import GenerationMode

    operation = fuzzed.operations[name]

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=GenerationMode(mode)), st.booleans(), st.sampled_from([None, *there]))
    def send(case: Any, found: bool, pull: str | None) -> None:
        if found and isinstance(case.query, dict) and "campaign" in case.query:
            case.query["campaign"] = "birds"
            case.query.pop("id", None)
        if pull is not None and isinstance(case.body, dict) and "pull" in case.body:
            case.body["pull"] = pull
        case.call_and_validate(headers=fuzzed.headers, checks=fuzzed.checks)

    send()


def test_the_document_names_every_error_and_gives_examples(app: FastAPI) -> None:
    document = app.openapi()
    assert document["openapi"].startswith("3.1")
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert {"401", "403", "422", "503"} <= set(operation["responses"]), (method, path)
            assert operation["description"], (method, path)
    assert "examples" in str(document["components"]["schemas"]["Ask"])
