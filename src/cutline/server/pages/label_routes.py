"""The page to label on, and what its forms send."""

from collections.abc import Callable, Mapping
from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import FileResponse, JSONResponse, Response

from cutline.campaign.checks import check_text
from cutline.campaign.results import PullRecord, PullState, Reason
from cutline.server.access.guard import CampaignName, Measuring, who_asks
from cutline.server.api.served import Served
from cutline.server.pages.forms import OURS
from cutline.server.pages.items import Media, parts
from cutline.server.pages.labelling import STAYS, Labeller, Outcome, what_to_say
from cutline.server.pages.rendering import is_secure, link, page, redirect
from cutline.server.problems import ProblemError

router = APIRouter()

COOKIE = "cutline_worker"
"""The cookie with the name of a person where nobody logs in."""

_LONGEST_NAME = 100

_AGAIN = 5
"""Seconds until it is looked again whether there is something for a person who waits."""

_LONGEST_PULL = 100

PullQuery = Annotated[str | None, Query(max_length=_LONGEST_PULL)]
PullField = Annotated[str, Form(max_length=_LONGEST_PULL)]
PullOrNot = Annotated[str | None, Form(max_length=_LONGEST_PULL)]
Reward = Annotated[float, Form(ge=0, le=1)]


class Visit:
    """A request about one campaign, by somebody who may label there."""

    def __init__(self, request: Request, campaign: CampaignName, access: Measuring, served: Served) -> None:
        self.request = request
        self.campaign = campaign
        self._served = served
        self._worker = access.name or unquote(request.cookies.get(COOKIE, "")) or None

    def label(self, work: Callable[[Labeller], Response]) -> Response:
        """Return what ``work`` makes of the person at the campaign, or the page that asks for the person's name."""
        worker, lease = self._worker, self.request.app.state.settings.labelling.lease
        if worker is None:
            return page(self.request, "name.html", campaign=self.campaign, longest=_LONGEST_NAME)
        return self._served.use(self.campaign, lambda campaign: work(Labeller(campaign, worker, lease)))

    def go(self, **query: object) -> Response:
        """Send the person on to an item."""
        return redirect(self.request, "/label", campaign=self.campaign, **query)


Visits = Annotated[Visit, Depends()]


@router.get("/label")
def label(
    visit: Visits,
    pull: PullQuery = None,
    after: PullQuery = None,
    last: PullQuery = None,
    then: PullQuery = None,
    said: str | None = None,
) -> Response:
    """Show an item: the one of ``pull``, or the one that comes ``after`` another, or a new one.

    ``last`` is the pull that undo goes back to, "" for none, ``then`` the one to go on with, ``said`` what became of
    the last answer.
    """
    last = after if last is None else last

    def show(labeller: Labeller) -> Response:
        if pull is None:
            found = labeller.next(after)
            if not found:
                assert found.reason is not None
                return _no_item(visit, labeller, found.reason, last, said)
            return visit.go(pull=found[0].id, last=last, said=said)
        record = labeller.record(pull)
        if record.state is PullState.LEASE_ENDED:
            return visit.go(last=last, said="ended")
        return _item(visit, labeller, record, (last, then), said)

    return visit.label(show)


def _item(
    visit: Visit, labeller: Labeller, record: PullRecord, around: tuple[str | None, str | None], said: str | None
) -> Response:
    """Return the page with an item; ``around`` are the pulls before and after it, as far as they are known."""
    last, then = around
    set_up = visit.request.app.state.settings.labelling
    status = labeller.campaign.status()
    onward = {"pull": then, "last": record.id} if then else {"after": record.id}
    return page(
        visit.request,
        "item.html",
        campaign=visit.campaign,
        record=record,
        parts=parts(record.arm, record.payload, Media(set_up.media)),
        wording=set_up.wording_of(status.settings),
        status=status,
        answered=labeller.campaign.answered(labeller.worker),
        onward=link(visit.request, "/label", campaign=visit.campaign, **onward),
        last=last,
        then=then,
        said=what_to_say(said),
    )


def _no_item(visit: Visit, labeller: Labeller, reason: Reason, last: str | None, said: str | None) -> Response:
    return page(
        visit.request,
        "no_item.html",
        campaign=visit.campaign,
        reason=reason,
        answered=labeller.campaign.answered(labeller.worker),
        last=last,
        open_elsewhere=[] if reason.finished else labeller.campaign.leased(labeller.worker),
        again=_AGAIN,
        said=what_to_say(said),
    )


@router.post("/label/name", dependencies=OURS)
def keep_name(visit: Visits, worker: Annotated[str, Form(max_length=_LONGEST_NAME)]) -> Response:
    """Keep the name of a person where nobody logs in."""
    made = visit.go()
    path, secure = link(visit.request, "/"), is_secure(visit.request)
    made.set_cookie(
        COOKIE, quote(check_text("name", worker.strip())), path=path, secure=secure, httponly=True, samesite="strict"
    )
    return made


@router.post("/label", dependencies=OURS)
def answer(
    visit: Visits,
    pull: PullField,
    reward: Reward,
    was: Annotated[float | None, Form()] = None,
    then: PullOrNot = None,
) -> Response:
    """Store the answer for an item, or another one than ``was`` given before."""
    onward = {"pull": then, "last": pull} if then else {"after": pull}
    return visit.label(lambda labeller: _after(visit, labeller, labeller.answer(pull, reward, was), pull, onward))


@router.post("/label/skip", dependencies=OURS)
def skip(visit: Visits, pull: PullField, last: PullOrNot = None) -> Response:
    """Give an item back for good; undo still goes back to ``last``, the last answer."""
    onward = {"after": pull, "last": last or ""}
    return visit.label(lambda labeller: _after(visit, labeller, labeller.skip(pull), pull, onward))


@router.post("/label/back", dependencies=OURS)
def give_back(visit: Visits, pull: Annotated[list[PullField], Form(max_length=2)]) -> Response:
    """Give back the items of a page that was closed."""

    def work(labeller: Labeller) -> Response:
        labeller.give_back(pull)
        return Response(status_code=204)

    return visit.label(work)


def _after(visit: Visit, labeller: Labeller, outcome: Outcome, pull: str, onward: Mapping[str, str]) -> Response:
    """Return the way on: as JSON for a page that goes there itself, else as a redirect."""
    onward = {"pull": pull} if outcome in STAYS else onward
    if "application/json" not in visit.request.headers.get("accept", ""):
        return visit.go(**onward, said=outcome)
    return JSONResponse(
        {
            "said": what_to_say(outcome),
            "next": link(visit.request, "/label", campaign=visit.campaign, **onward),
            "answered": f"{labeller.campaign.answered(labeller.worker):,}",
            "spent": labeller.campaign.status().spent,
        }
    )


@router.get("/media")
def media(request: Request, file: str) -> Response:
    """Return a picture or a sound of the folder of media, to anybody who is logged in."""
    if who_asks(request) is None:
        raise ProblemError(401, "log in first")
    found = Media(request.app.state.settings.labelling.media).find(file)
    if found is None:
        raise ProblemError(404, f"there is no picture and no sound {file!r} in the folder of media")
    path, kind = found
    return FileResponse(path, media_type=kind, headers={"Content-Security-Policy": "sandbox; default-src 'none'"})
