"""What does not belong is refused: attempts, each with the status that answers it."""

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import pytest
import urllib3

from cutline.campaign import Campaign
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.store import Store
from cutline.server.access.guard import COOKIE
from cutline.server.access.tokens import Tokens
from cutline.server.settings import ServerSettings, parse_networks
from ledger import dump
from servers import serving


class Place(NamedTuple):
    """Servers, their tokens by name, and ids that attempts are made with."""

    addresses: dict[str, str]
    tokens: dict[str, str]
    ids: dict[str, str]
    db: str

    def send(self, attempt: "Attempt") -> urllib3.BaseHTTPResponse:
        headers = {name: self.filled(value) for name, value in attempt.headers.items()}
        if attempt.who:
            headers["Authorization"] = f"Bearer {self.tokens[attempt.who]}"
        body = (
            None
            if attempt.body is None
            else self.filled(attempt.body if isinstance(attempt.body, str) else json.dumps(attempt.body))
        )
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        query = [(key, self.filled(value)) for key, value in attempt.query]
        url = f"{self.addresses[attempt.server]}{attempt.path}?{urlencode(query)}"
        return urllib3.request(attempt.method, url, body=body, headers=headers, redirect=False, timeout=60)

    def filled(self, text: str) -> str:
        """Put tokens and ids where their names stand in braces."""
        for name, value in (self.tokens | self.ids).items():
            text = text.replace(f"<{name}>", value)
        return text


class Attempt(NamedTuple):
    """A request: what it tries, who sends it, and the status that is right."""

    what: str
    who: str
    method: str
    path: str
    status: int
    body: Any = None
    campaign: str | None = "birds"
    headers: Mapping[str, str] = MappingProxyType({})
    more: tuple[tuple[str, str], ...] = ()
    server: str = "closed"

    @property
    def query(self) -> list[tuple[str, str]]:
        return [*([] if self.campaign is None else [("campaign", self.campaign)]), *self.more]


def post(what: str, who: str, path: str, status: int, body: Any, **more: Any) -> Attempt:
    return Attempt(what, who, "POST", f"/api/v1/{path}", status, body, **more)


def get(what: str, who: str, path: str, status: int, **more: Any) -> Attempt:
    return Attempt(what, who, "GET", f"/api/v1/{path}", status, **more)


NEW = {"name": "new", "arms": ["a"], "threshold": 0.5, "budget": 9}
BOBS = {"pull": "<bobs pull>"}
OVERRIDE = {"X-HTTP-Method-Override": "DELETE"}
ANN = {"X-Forwarded-User": "ann"}
LOGIN = {"Cookie": f"{COOKIE}=<login>"}
EVIL = "http://evil.example"
FORM = "worker=bob&excluded=yes"
SENT = {"Content-Type": "application/x-www-form-urlencoded"}

ATTEMPTS = [
    # no token, or none that is good
    get("nobody looks", "", "status", 401),
    post("nobody asks", "", "ask", 401, {}),
    post("nobody tells", "", "tell", 401, BOBS | {"reward": 1}),
    get("nobody listens", "", "events", 401),
    get("nobody lists", "", "campaigns", 401, campaign=None),
    Attempt("nobody looks at a page", "", "GET", "/campaign", 401),
    get("a token that never was", "", "status", 401, headers={"Authorization": "Bearer cutline_1_abc"}),
    get("no token at all", "", "status", 401, headers={"Authorization": "Bearer "}),
    get("another scheme", "", "status", 401, headers={"Authorization": "Basic <owner>"}),
    get("the owner's number with another's secret", "", "status", 401, headers={"Authorization": "Bearer <mixed>"}),
    get("half of a token", "", "status", 401, headers={"Authorization": "Bearer <half>"}),
    get("a token that has ended", "ended", "status", 401),
    get("a token that was revoked", "revoked", "status", 401),
    get("a link as a token", "link", "status", 401),
    get("a token in the address", "", "status", 401, more=(("token", "<owner>"),)),
    get("a login that was logged out", "", "status", 401, headers={"Cookie": f"{COOKIE}=<logged out>"}),
    get("a token that is not text", "", "status", 401, headers={"Authorization": "Bearer cutline_\u00b2_x"}),
    # a labeller beyond his campaign, or beyond labelling
    get("another campaign's status", "ann", "status", 403, campaign="cats"),
    post("to ask on another campaign", "ann", "ask", 403, {}, campaign="cats"),
    post("both campaigns at once", "ann", "ask", 403, {}, more=(("campaign", "cats"),)),
    get("another campaign by its id", "ann", "status", 404, more=(("id", "<cats>"),)),
    get("a campaign that is not there", "ann", "status", 403, campaign="dogs"),
    get("all campaigns", "ann", "campaigns", 403, campaign=None),
    post("decisions", "ann", "decisions", 403, {}),
    get("results", "ann", "results", 403),
    get("records", "ann", "records", 403),
    get("workers and notes in an export", "ann", "export", 403),
    post("an arm's history", "ann", "arm", 403, {"arm": "a"}),
    get("what was changed", "ann", "history", 403),
    post("results from elsewhere", "ann", "observe", 403, {"observations": [{"arm": "a", "reward": 1}]}),
    post("a larger budget", "ann", "change", 403, {"budget": 99}),
    post("another name", "ann", "rename", 403, {"name": "mine"}),
    post("a copy", "ann", "copy", 403, {"name": "mine"}),
    post("a campaign of his own", "ann", "campaigns", 403, NEW, campaign=None),
    Attempt("to delete", "ann", "DELETE", "/api/v1/campaigns", 403),
    Attempt("the dashboard", "ann", "GET", "/campaign", 403),
    # a labeller in the place of another
    post("to ask as another", "ann", "ask", 403, {"worker": "bob"}),
    post("to tell another's pull", "ann", "tell", 403, BOBS | {"reward": 1}),
    post("the same among his own", "ann", "tell-many", 403, {"rewards": [BOBS | {"reward": 1}]}),
    post("to give another's pull back", "ann", "abandon", 403, BOBS),
    post("to hold another's pull", "ann", "extend", 403, BOBS | {"lease": 1e6}),
    post("to correct another's answer", "ann", "correct", 403, {"pull": "<bobs answer>", "reward": 0}),
    post("to correct as another", "bob", "correct", 403, {"pull": "<bobs answer>", "reward": 0, "worker": "ann"}),
    # a viewer
    post("a viewer asks", "viewer", "ask", 403, {}),
    post("a viewer tells", "viewer", "tell", 403, BOBS | {"reward": 1}),
    post("a viewer changes", "viewer", "change", 403, {"budget": 99}),
    Attempt("a viewer deletes", "viewer", "DELETE", "/api/v1/campaigns", 403),
    post("a viewer of another campaign", "viewer of cats", "decisions", 403, {}),
    get("a viewer of one campaign lists all", "viewer of cats", "campaigns", 403, campaign=None),
    post("a viewer imports", "viewer", "import", 403, {}),
    post("a labeller imports", "ann", "import", 403, {}),
    post("rows that are none", "owner", "import", 422, {}),
    post("a viewer uploads known answers", "viewer", "known", 403, {}),
    post("a labeller uploads known answers", "ann", "known", 403, {}),
    Attempt("a labeller excludes a worker", "ann", "POST", "/workers/exclude", 403, FORM, headers=SENT),
    Attempt("a viewer excludes a worker", "viewer", "POST", "/workers/exclude", 403, FORM, headers=SENT),
    Attempt("an owner without a form's token", "owner", "POST", "/workers/exclude", 403, FORM, headers=SENT),
    Attempt("a form of his own making", "", "POST", "/workers/exclude", 403, FORM, headers=SENT | LOGIN),
    Attempt("a labeller looks at known answers", "ann", "GET", "/known", 403),
    Attempt("a viewer knows an answer", "viewer", "POST", "/arm/known", 403, "arm=a&answer=1", headers=SENT),
    Attempt("nobody knows an answer", "", "POST", "/arm/known", 401, "arm=a&answer=1", headers=SENT),
    Attempt("known answers from elsewhere", "", "POST", "/known", 403, "x", headers=LOGIN | {"Origin": EVIL}),
    # another site's page in the browser of somebody who is logged in
    post("a form from elsewhere", "", "ask", 403, {}, headers=LOGIN | {"Origin": EVIL}),
    post("a form from a file", "", "ask", 403, {}, headers=LOGIN | {"Origin": "null"}),
    post("a page at another port", "", "ask", 403, {}, headers=LOGIN | {"Origin": "http://127.0.0.1:1"}),
    post("a page that says so itself", "", "ask", 403, {}, headers=LOGIN | {"Sec-Fetch-Site": "cross-site"}),
    post("a page of a neighbour", "", "ask", 403, {}, headers=LOGIN | {"Sec-Fetch-Site": "same-site"}),
    Attempt("to delete from elsewhere", "", "DELETE", "/api/v1/campaigns", 403, headers=LOGIN | {"Origin": EVIL}),
    post("a form's encoding", "", "ask", 422, "n=1", headers=LOGIN | {"Content-Type": "text/plain"}),
    Attempt("a method in a header", "viewer", "GET", "/api/v1/status", 200, headers=OVERRIDE),
    # names from a proxy that is none
    get("a name from no proxy", "", "status", 401, headers={"X-Forwarded-User": "bob"}),
    get("a name where the proxy gives another header", "", "status", 401, headers={"X-User": "bob"}, server="proxied"),
    post(
        "two names",
        "",
        "ask",
        401,
        {},
        headers={"X-Forwarded-User": "bob", "x-forwarded-user": "ann"},
        server="proxied",
    ),
    post(
        "to ask as another than the proxy says",
        "",
        "ask",
        403,
        {"worker": "bob"},
        headers={"X-Forwarded-User": "ann"},
        server="proxied",
    ),
    post(
        "decisions for whom a proxy has let in",
        "",
        "decisions",
        403,
        {},
        headers={"X-Forwarded-User": "ann"},
        server="proxied",
    ),
    # a server that is for this machine alone
    get("a name made to mean this machine", "", "status", 401, headers={"Host": "evil.example"}, server="open"),
    get("a name that begins like it", "", "status", 401, headers={"Host": "127.0.0.1.evil.example"}, server="open"),
    get("by way of a proxy", "", "status", 401, headers={"X-Forwarded-For": "10.0.0.9"}, server="open"),
    post("a page from elsewhere", "", "ask", 403, {}, headers={"Origin": EVIL}, server="open"),
    get("a token where none is needed", "", "status", 401, headers={"Authorization": "Bearer x"}, server="open"),
    # too much, or not what it should be
    post("more than there may be", "owner", "ask", 422, {"n": 100_001}),
    post("less than one", "owner", "ask", 422, {"n": -1}),
    post("a number that is text", "owner", "ask", 422, {"n": "1"}),
    post("what nobody knows", "owner", "ask", 422, {"admin": True}),
    post("a reward that is no number", "owner", "tell", 422, '{"pull": "<bobs pull>", "reward": NaN}'),
    post("an endless lease", "owner", "extend", 422, '{"pull": "<bobs pull>", "lease": Infinity}'),
    post("half a character", "owner", "ask", 422, '{"worker": "\\ud800"}'),
    post("a NUL", "owner", "ask", 422, '{"worker": "a\\u0000b"}'),
    post("deep JSON", "owner", "ask", 422, "[" * 100_000),
    post("no JSON", "owner", "ask", 422, "{"),
    post("a name of 201 characters", "owner", "rename", 422, {"name": "x" * 201}),
    post("a policy with an argument that is code", "owner", "change", 422, {"policy": "__import__('os')"}),
    post("a body that says it is large", "owner", "ask", 413, "{}", headers={"Content-Length": str(2**40)}),
    Attempt("a file of the server", "", "GET", "/static/..%2f..%2fsettings.py", 404, campaign=None),
    Attempt("the same, plainly", "", "GET", "/static/%2e%2e/%2e%2e/settings.py", 404, campaign=None),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("attacks")
    db, alone = str(folder / "x.db"), str(folder / "alone.db")
    Campaign.create(db, "cats", ["a"], 0.5, "LSA", 50).close()
    Campaign.create(alone, "birds", ["a"], 0.5, "LSA", 50).close()
    with Campaign.create(db, "birds", ["a", "b"], 0.5, "LSA", 50) as birds:
        answer, pull = birds.ask(2, worker="bob", lease=1e6)
        birds.tell(answer, 1)
    with Store.connect(db, create=False) as store:
        tokens = Tokens(store, Clock())
        made = {
            "owner": tokens.create("owner", "owner"),
            "ann": tokens.create("ann", "labeller", "birds"),
            "bob": tokens.create("bob", "labeller", "birds"),
            "viewer": tokens.create("viewer", "viewer"),
            "viewer of cats": tokens.create("viewer of cats", "viewer", "cats"),
            "ended": tokens.create("ended", "owner", days=1e-9),
            "revoked": tokens.create("revoked", "owner"),
        }
        tokens.revoke("revoked")
        made |= {"link": tokens.link("owner"), "login": tokens.log_in(made["owner"]) or ""}
        made["logged out"] = tokens.log_in(made["owner"]) or ""
        tokens.log_out(made["logged out"])
    made["mixed"] = made["owner"].rpartition("_")[0].split("_")[0] + "_1_" + made["viewer"].split("_", 2)[2]
    made["half"] = made["owner"][:-4]
    with Campaign.open(db, "cats") as cats:
        ids = {"bobs pull": pull.id, "bobs answer": answer.id, "cats": cats._identity.token}
    proxy = parse_networks("127.0.0.1")
    with (
        serving(ServerSettings(db)) as closed,
        serving(ServerSettings(db, worker_header="X-Forwarded-User", trusted=proxy)) as proxied,
        serving(ServerSettings(alone)) as open_,
    ):
        yield Place({"closed": closed, "proxied": proxied, "open": open_}, made, ids, db)


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=[attempt.what for attempt in ATTEMPTS])
def test_what_does_not_belong_is_refused_changes_nothing_and_names_no_secret(place: Place, attempt: Attempt) -> None:
    with Campaign.open(place.db, "birds") as birds:
        before = dump(birds)
        response = place.send(attempt)
        assert response.status == attempt.status, response.data
        assert dump(birds) == before
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    if response.status >= 400 and attempt.path.startswith("/api"):
        problem = response.json()
        assert response.headers["Content-Type"] == "application/problem+json"
        assert (problem["status"], "\n" in problem["detail"]) == (attempt.status, False)
    assert not any(secret.encode() in response.data for secret in place.tokens.values())


def test_the_rest_of_a_body_that_is_too_large_is_not_taken_for_the_next_request(place: Place) -> None:
    with closing(http.client.HTTPConnection(urlsplit(place.addresses["open"]).netloc, timeout=10)) as connection:
        connection.request("POST", "/api/v1/ask?campaign=birds", "{}", {"Content-Length": str(2**40)})
        response = connection.getresponse()
        assert (response.status, response.getheader("Connection")) == (413, "close")
        response.read()
        connection.request("GET", "/healthz")  # on a connection of its own
        with connection.getresponse() as second:
            assert (second.status, json.load(second)) == (200, {"status": "ok"})


def test_there_are_enough_attempts() -> None:
    assert len(ATTEMPTS) >= 40
    assert len({attempt.what for attempt in ATTEMPTS}) == len(ATTEMPTS)


@pytest.mark.parametrize(
    ("who", "method", "path", "body"),
    [
        ("ann", "POST", "ask", {"worker": "ann"}),
        ("ann", "POST", "ask", {}),
        ("ann", "GET", "status", None),
        ("viewer", "POST", "decisions", {}),
        ("owner", "POST", "tell", {"pull": "<bobs answer>", "reward": 1}),
        ("bob", "POST", "correct", {"pull": "<bobs answer>", "reward": 1}),
        ("bob", "POST", "extend", {"pull": "<bobs pull>", "lease": 1e6}),
    ],
)
def test_what_belongs_is_let_in(place: Place, who: str, method: str, path: str, body: Any) -> None:
    assert place.send(Attempt("", who, method, f"/api/v1/{path}", 200, body)).status == 200


def test_who_is_logged_in_may_use_the_pages_own_requests(place: Place) -> None:
    origin = place.addresses["closed"]
    assert place.send(post("", "", "ask", 200, {}, headers=LOGIN | {"Origin": origin})).status == 200
    named = {"X-Forwarded-User": "cleo"}
    asked = place.send(post("", "", "ask", 200, {"worker": "cleo"}, headers=named, server="proxied"))
    assert asked.status == 200


def test_the_health_of_a_server_needs_no_login(place: Place) -> None:
    for server in place.addresses:
        assert place.send(Attempt("", "", "GET", "/healthz", 200, server=server)).json() == {"status": "ok"}


def test_paths_are_there_with_and_without_the_root_path(tmp_path: Path) -> None:
    with serving(ServerSettings(str(tmp_path / "x.db"), root_path="/labels")) as address:
        for path in ("/healthz", "/api/v1/campaigns", "/static/cutline.js"):
            for before in ("", "/labels"):
                assert urllib3.request("GET", address + before + path, timeout=60).status == 200, before + path
