"""Commands that are started before there is a batch for them, so that no batch waits for their start.

Such a command knows from its environment where its instructions will be. It makes itself ready and waits at its gate, a
pipe: a byte says that the instructions are there, the end of the pipe that there are none and that it is to end.
"""

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import IO, Protocol

from cutline.campaign.running.commands.processes import GRACE, Process, Processes

READY = "ready"
"""The file that a command makes in its folder before it waits at its gate."""


class Instructions(Protocol):
    """How a command is told its arms, and how many such commands are started before there are batches for them."""

    @property
    def ahead(self) -> int:
        """How many commands are kept ready beside those that run."""
        ...

    def environment(self, folder: Path, gate: int) -> Mapping[str, str]:
        """Return what tells a command in which folder its instructions will be, and by which descriptor it waits."""
        ...

    def write(self, arms: Sequence[str], folder: Path, report: Path) -> object:
        """Write the instructions to measure these arms, and to report there."""
        ...


@dataclass
class Place:
    """A folder for a batch, and files for what its command writes; they are gone when ``ends`` is closed."""

    folder: Path
    errors: IO[bytes]
    output: IO[bytes]
    ends: ExitStack

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_: object) -> None:
        self.ends.close()

    @classmethod
    def make(cls) -> "Place":
        """Return a new one; raise OSError if there is no room for it."""
        with ExitStack() as ends:
            folder = tempfile.TemporaryDirectory(prefix="cutline-", ignore_cleanup_errors=True)
            name = ends.enter_context(folder)
            errors, output = (ends.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            return cls(Path(name), errors, output, ends.pop_all())


@dataclass
class Spare:
    """A command that waits at its gate, or is on its way there; ``began`` is the time of its start."""

    place: Place
    process: Process
    gate: int
    began: float = field(default_factory=time.time)

    def begin(self) -> float:
        """Open the gate; return how many seconds it has taken until now, or until it was ready."""
        ready = time.time()
        with suppress(FileNotFoundError):
            ready = min(ready, (self.place.folder / READY).stat().st_mtime)
        with suppress(BrokenPipeError):  # it has ended, as whoever waits for it will see
            os.write(self.gate, b"\n")
        return max(ready - self.began, 0.0)


class Spares:
    """Starts commands, and keeps some ready; safe to use from several threads."""

    def __init__(self, processes: Processes, arguments: Sequence[bytes], instructions: Instructions) -> None:
        self._processes = processes
        self._arguments = arguments
        self._instructions = instructions
        self._lock = Lock()  # of what follows
        self._spares: list[Spare] = []
        self._most = instructions.ahead
        self._is_closed = False

    def expect(self, batches: int) -> None:
        """Keep no more of them ready than there will be batches beside those that have a place already."""
        with self._lock:
            self._most = min(batches, self._instructions.ahead)

    @contextmanager
    def taken(self) -> Iterator[Spare]:
        """Yield a command, one that was kept ready if there is one; raise OSError if it cannot be started."""
        with self._lock:
            spare = self._spares.pop(0) if self._spares else None
        spare = spare or self._start()
        with spare.place:
            yield spare

    def begin(self, spare: Spare, arms: Sequence[str], report: Path) -> float:
        """Have a command measure these arms; return the seconds that it has taken to be ready, until now at most.

        Then start one more to be kept ready, unless there are enough.
        """
        self._instructions.write(arms, spare.place.folder, report)
        ahead = spare.begin()
        with self._lock, suppress(OSError):  # when one is needed, it can be started, or that says why not
            if len(self._spares) < self._most and not self._is_closed:
                self._spares.append(self._start())
        return ahead

    def close(self) -> None:
        """End those that were kept ready, and keep no more."""
        with self._lock:
            self._is_closed = True
            spares, self._spares = self._spares, []
        for spare in spares:
            spare.place.ends.close()
        for spare in spares:
            with suppress(TimeoutError):
                self._processes.wait(spare.process, GRACE)

    def _start(self) -> Spare:
        place = Place.make()
        with ExitStack() as ends:
            ends.push(place)
            its_end, gate = os.pipe()
            place.ends.callback(os.close, gate)
            try:
                environment = self._instructions.environment(place.folder, its_end)
                process = self._processes.start(
                    self._arguments, place.output, place.errors, environment=environment, inherited=(its_end,)
                )
            finally:
                os.close(its_end)
            ends.pop_all()
            return Spare(place, process, gate)
