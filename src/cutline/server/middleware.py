"""What holds for every request and answer: paths behind a proxy, sizes of bodies, headers for browsers."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cutline.campaign.remote.connection import LARGEST_BODY
from cutline.server.problems import answer
from cutline.server.settings import ServerSettings

_HEADERS = {
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https: http:; "
        b"media-src 'self' data: https: http:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        b"frame-ancestors 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
}


class BehindProxy:
    """Serves the same paths with the root path in front of them, and without, for proxies that take it away.

    Whether the user has come by https is what a trusted proxy says.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root = self._settings.root_path
        if scope["type"] == "http":
            path = scope["path"]
            if root and path != root and not path.startswith(f"{root}/"):
                path = root + path
            scope = {**scope, "path": path, "root_path": root, "scheme": self._scheme(scope)}
        await self._app(scope, receive, send)

    def _scheme(self, scope: Scope) -> str:
        said = dict(scope["headers"]).get(b"x-forwarded-proto", b"").decode("latin-1")
        peer = scope.get("client")
        trusted = said in ("http", "https") and peer is not None and self._settings.trusts(peer[0])
        return said if trusted else str(scope["scheme"])


class BoundedBodies:
    """Answers 413 to a body that is too large, as soon as that is known."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            await answer(413, f"the body is larger than {LARGEST_BODY:,} bytes; send less at a time")(
                scope, receive, send
            )
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > LARGEST_BODY:
                raise _TooLargeError
            return message

        try:
            await self._app(scope, counted, send)
        except _TooLargeError:
            await answer(413, f"the body is larger than {LARGEST_BODY:,} bytes; send less at a time")(
                scope, receive, send
            )


class SafeHeaders:
    """Adds to every answer what keeps browsers from running or showing what does not belong."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                missing = ((name, value) for name, value in _HEADERS.items() if name not in given)
                message["headers"] = [*message["headers"], *missing]
            await send(message)

        await self._app(scope, receive, sending)


class _TooLargeError(Exception):
    """The body turns out to be too large."""
