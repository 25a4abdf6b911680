"""What every form of a page must show before anything is done."""

from typing import Annotated

from fastapi import Depends, Form, Request

from cutline.server.access.forms import FIELD, require_own_form


def _own_form(request: Request, token: Annotated[str | None, Form(alias=FIELD)] = None) -> None:
    """Raise a ProblemError for a form that no page of ours has sent."""
    require_own_form(request, token)


OURS = [Depends(_own_form)]
"""The dependencies of an operation that a form asks for."""
