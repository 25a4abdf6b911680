"""How a client speaks HTTP: in one piece, over connections that are kept, and again where that is safe."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from cutline.campaign.remote import connection as module
from cutline.campaign.remote.connection import Connection
from cutline.errors import StoreError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
AWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
CUT_OFF = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12345"


class Server:
    """Answers each request as it is told, and ends the connection after an answer that begins with None.

    ``heard`` are the pieces in which requests came, ``connections`` how many there were.
    """

    def __init__(self, answers: list[tuple[bytes | None, bool]]) -> None:
        self.heard: list[bytes] = []
        self.connections = 0
        self._answers = iter(answers)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connected, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connected,), daemon=True).start()

    def _answer(self, connected: socket.socket) -> None:
        with connected:
            while piece := connected.recv(1 << 16):
                self.heard.append(piece)
                answer, stays = next(self._answers)
                connected.sendall(answer or b"")
                if not stays:
                    break

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Server, Connection]]]:
    """Start a server that gives these answers; return it and a connection to it. Nobody waits between attempts."""
    monkeypatch.delenv("CUTLINE_TOKEN", raising=False)
    monkeypatch.setattr(module, "_FIRST_WAIT", 0.0)
    running: list[Server] = []

    def start(*answers: tuple[bytes | None, bool]) -> tuple[Server, Connection]:
        running.append(Server(list(answers)))
        return running[-1], Connection(running[-1].address, None)

    yield start
    for server in running:
        server.close()


def test_head_and_body_come_in_one_piece_over_one_connection(serve: Callable[..., tuple[Server, Connection]]) -> None:
    server, connection = serve((OK, True), (OK, True))
    with closing(connection):
        for _ in range(2):
            assert connection.post("ask", {"n": 1}, campaign="a b") == {}
    assert server.connections == 1
    assert [piece.partition(b"\r\n")[0] for piece in server.heard] == [b"POST /api/v1/ask?campaign=a%20b HTTP/1.1"] * 2
    assert all(piece.endswith(b'\r\n\r\n{"n": 1}') for piece in server.heard)


def test_a_connection_that_the_server_has_ended_is_made_anew(serve: Callable[..., tuple[Server, Connection]]) -> None:
    server, connection = serve((OK, False), (OK, True), (OK, True))
    with closing(connection):
        connection.post("ask", {})
        connection.post("ask", {})
        connection.post("campaigns", {}, again=False)
    assert (server.connections, len(server.heard)) == (3, 3)


def test_what_must_not_be_sent_twice_is_not_and_all_else_is(serve: Callable[..., tuple[Server, Connection]]) -> None:
    server, connection = serve((OK, True), (None, False), (None, False), (AWAY, True), (OK, True), (AWAY, True))
    with closing(connection):
        connection.get("status")
        with pytest.raises(StoreError, match="the server cannot be reached: Remote end closed connection"):
            connection.post("campaigns", {}, again=False)
        assert len(server.heard) == 2
        assert connection.post("tell", {}) == {}
        assert len(server.heard) == 5
        with pytest.raises(StoreError, match="HTTP 502; is this the address of a Cutline server"):
            connection.delete("campaigns")
        assert len(server.heard) == 6


def test_it_gives_up_after_some_attempts_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(StoreError) as caught:
        Connection(address, None).get("status")
    assert str(caught.value) == f"{address}: the server cannot be reached: Connection refused"
    assert len(waited) == module.FIRST_PATIENCE - 1  # the first time it is tried again at once
    assert 3.0 < sum(waited) < 3.5
    assert waited == sorted(waited)
    assert 50.0 < sum(module._pauses(module.PATIENCE)) < 65.0


def test_an_answer_that_is_cut_off_is_no_answer(serve: Callable[..., tuple[Server, Connection]]) -> None:
    server, connection = serve(
        (CUT_OFF, False), (CUT_OFF, False), (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345", True)
    )
    with closing(connection):
        with pytest.raises(StoreError, match="the server cannot be reached"):
            list(connection.pieces("backup"))
        assert connection.get("status") == 12345  # tried again
    assert len(server.heard) == 3
