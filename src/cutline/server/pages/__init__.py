"""The pages: server-rendered HTML that works without JavaScript."""

from fastapi import APIRouter

router = APIRouter(include_in_schema=False)
