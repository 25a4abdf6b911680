"""How an operation reaches the campaigns that the server serves."""

from typing import Annotated

from fastapi import Depends, Request

from cutline.server.campaigns import Campaigns


def _served(request: Request) -> Campaigns:
    served = request.app.state.campaigns
    assert isinstance(served, Campaigns)
    return served


Served = Annotated[Campaigns, Depends(_served)]
