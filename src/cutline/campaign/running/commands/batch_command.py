"""A shell command as the measurement of a batch: it is given many arms at once and writes a report of them."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import TypeAlias

from cutline.campaign.results import Pull
from cutline.campaign.running.commands.endings import Endings, end_of, last_line
from cutline.campaign.running.commands.processes import Processes
from cutline.campaign.running.commands.progress import Progress
from cutline.campaign.running.commands.reports import Format, Report, read_junit
from cutline.campaign.running.commands.spares import Instructions, Place, Spare, Spares
from cutline.campaign.running.outcomes import BatchResult, Trouble
from cutline.checks import check_positive
from cutline.errors import InvalidInputError, TryAgainError
from cutline.text import quoted, shown

ARMS = "{arms}"
"""The argument that stands for the ids of the batch, as many arguments."""

ARMS_FILE = "{arms_file}"
"""What stands in a command for the name of a file with the ids, one a line."""

REPORT = "{report}"
"""What stands in a command for the name of the file that it writes its report to."""

Keep: TypeAlias = Callable[[str, str], object]
"""Takes an arm and what it wrote when it failed."""

_LONGEST = 100_000
"""Bytes at the end of either output of a command that has died that are kept."""


class BatchCommand:
    """A command line as the measurement of a batch, to be called with its pulls; safe to call from several threads.

    An argument ``{arms}`` becomes as many arguments as the batch has arms, ``{arms_file}`` the name of a file with an
    id a line, ``{report}`` the name of the file in which the rewards are found afterwards: JUnit XML, or JSON Lines
    (see ``reports``). Each batch is a fresh process in a process group of its own, without input. An arm that the
    report does not name could not be measured. A command that is killed, takes too long, ends with an exit status that
    says that nothing was measured, or leaves no report has died: what it has reported before counts, and of the others
    those may be the cause of which it was said that they begin, or else each.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        report: Format,
        timeout: float | None = None,
        crash_exits: Collection[int] = (),
        retry_exits: Collection[int] = (),
        instructions: Instructions | None = None,
        keep: Keep | None = None,
    ) -> None:
        """``timeout`` in seconds, for each arm of a batch. ``crash_exits``: exit statuses by which it has died.

        ``retry_exits``: those by which it says that it may succeed later; what it has reported counts all the same, and
        if that is nothing, TryAgainError is raised.
        ``instructions`` are for a command that waits for them when it has started, and says of each arm when it begins:
        one that dies before any has begun says nothing of any of them. ``keep`` is given what is reported of failures,
        and of the arms at which a command has died what it had written until then.
        Raises InvalidInputError if an argument is missing, the program is not there, or an option is out of range.
        """
        if instructions is None:
            _check(arguments)
        self._arguments = tuple(arguments)
        self._format = report
        self._timeout = None if timeout is None else check_positive("timeout", timeout)
        self._endings = Endings(crash_exits, retry_exits=retry_exits)
        self._keep = keep
        self._processes = Processes()
        words = [os.fsencode(word) for word in arguments]
        self._spares = None if instructions is None else Spares(self._processes, words, instructions)
        self._lock = threading.Lock()
        self._running: set[Progress] = set()

    def __call__(self, batch: Sequence[Pull]) -> BatchResult:
        """Run the command for a batch of distinct arms and return what came of them."""
        arms = [pull.arm for pull in batch]
        with ExitStack() as ends:
            spare = None if self._spares is None else ends.enter_context(self._spares.taken())
            place = ends.enter_context(Place.make()) if spare is None else spare.place
            lines = self._format == "jsonl"
            path = place.folder / "report"
            progress = Progress(path, arms, self._timeout, lines=lines, says_begin=spare is not None)
            with self._lock:
                self._running.add(progress)
            try:
                return self._measure(arms, place, spare, progress)
            finally:
                with self._lock:
                    self._running.discard(progress)

    def expect(self, batches: int) -> None:
        """Say about how many batches there will be after those that there are: so many commands are started ahead."""
        if self._spares:
            self._spares.expect(batches)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to every process of the batches that run now; what they report from now on does not count.

        Commands that were started ahead are ended, and none is started ahead any more.
        """
        with self._lock:
            for progress in self._running:
                progress.freeze()
        self._processes.stop(how)
        if self._spares:
            self._spares.close()

    def _measure(self, arms: Sequence[str], place: Place, spare: Spare | None, progress: Progress) -> BatchResult:
        late, status, ahead = False, 0, 0.0
        try:
            if self._spares is None or spare is None:
                words = self._filled(arms, place.folder, progress.path)
                status = self._processes.run(words, subprocess.DEVNULL, place.errors, is_late=progress.is_late)
            else:
                ahead = self._spares.begin(spare, arms, progress.path)
                status = self._processes.wait(spare.process, is_late=progress.is_late)
        except TimeoutError:
            late = True
        except (OSError, ValueError) as error:
            text = f"cannot run {self._arguments[0]!r}: {getattr(error, 'strerror', None) or error}"
            return BatchResult(death=Trouble("crash", text), suspects=arms if spare is None else ())
        return replace(self._result_of(arms, progress, status, late, place), ahead=ahead)

    def _result_of(self, arms: Sequence[str], progress: Progress, status: int, late: bool, place: Place) -> BatchResult:
        """Return what came of a batch whose command has ended, or was ended because it was late."""
        try:
            report = progress.finish() if self._format == "jsonl" else read_junit(_read(progress.path), arms)
            wrong = None
        except InvalidInputError as error:
            report, wrong = progress.report, str(error)
        if self._keep:
            for arm, text in report.output.items():
                self._keep(arm, text)
        if late and progress.is_complete():
            return _result(arms, report)  # it did not come to its end, but nothing is lost
        if late and wrong is None:
            too_late = Trouble("timeout", f"took longer than {self._timeout:g} s")
            return self._died(too_late, arms, report, progress.late, place)
        if self._endings.is_momentary(status):
            return _put_off(report, f"exit status {status}: {last_line(place.errors) or last_line(place.output)}")
        death = self._endings.crash(status)
        if death is None and wrong is not None:
            death = f"exit status {status}, {wrong}" if status else wrong
        if death is None and report.begun:
            death = f"exit status {status} before its end"
        if death is None:
            return _result(arms, report)
        last = shown(_last_words(place, progress.path if report.begun else None), 200)
        died = Trouble("crash", f"{death}: {last}" if last else death)
        return self._died(died, arms, report, report.begun, place)

    def _died(
        self, death: Trouble, arms: Sequence[str], report: Report, accused: Collection[str], place: Place
    ) -> BatchResult:
        """Return the result of a batch that has died while the ``accused`` were measured."""
        if self._keep:
            for arm in accused:
                self._keep(arm, _left_by(death, report.begun.get(arm, ""), place))
        others = [] if self._spares else [arm for arm in arms if not report.names(arm)]
        errors = {arm: Trouble("error", text) for arm, text in report.errors.items()}
        return BatchResult(report.rewards, errors, report.skipped, death, list(accused) or others, report.notes)

    def _filled(self, arms: Sequence[str], folder: Path, report: Path) -> list[bytes]:
        """Return the arguments for a batch; ids are UTF-8, whatever encoding the locale has for arguments."""
        arms_file = folder / "arms"
        if any(ARMS_FILE in word for word in self._arguments):
            for arm in arms:
                if "\n" in arm or "\r" in arm:
                    raise ValueError(f"the id {quoted(arm)} has a line end; it cannot stand in a file of ids")
            arms_file.write_text("".join(f"{arm}\n" for arm in arms), encoding="utf-8")
        filled: list[bytes] = []
        for word in self._arguments:
            if word == ARMS:
                filled += [arm.encode() for arm in arms]
            else:
                filled.append(os.fsencode(word.replace(ARMS_FILE, str(arms_file)).replace(REPORT, str(report))))
        return filled


def _check(arguments: Sequence[str]) -> None:
    """Raise InvalidInputError unless a command for batches has what it needs."""
    example = "pytest --junitxml={report} {arms}"
    if not arguments:
        raise InvalidInputError(f"no command; give one, such as: {example}")
    if not any(word == ARMS or ARMS_FILE in word for word in arguments):
        raise InvalidInputError(
            f"the command for a batch has no argument {ARMS} and no {ARMS_FILE}; write one where the ids go, as in: "
            f"{example}"
        )
    if not any(REPORT in word for word in arguments):
        raise InvalidInputError(
            f"the command for a batch has no {REPORT}; write it where the name of its report belongs, as in: {example}"
        )
    if which(arguments[0]) is None:
        raise InvalidInputError(f"there is no program {arguments[0]!r} that can be run")


def _last_words(place: Place, report: Path | None) -> str:
    """Return the last line that a command has written; ``report`` is its report if it has died while it measured.

    Then only what came on standard error after an arm had begun may say why.
    """
    if report is None:
        return last_line(place.errors) or last_line(place.output)
    with suppress(FileNotFoundError):
        if os.fstat(place.errors.fileno()).st_mtime_ns < report.stat().st_mtime_ns:
            return ""
    return last_line(place.errors)


def _left_by(death: Trouble, begun: str, place: Place) -> str:
    """Return what is kept of an arm at which a command has died: how, and what it has written."""
    parts = [begun, death.text]
    for name, file in (("stdout", place.output), ("stderr", place.errors)):
        text = end_of(file, _LONGEST)
        parts.append(f"--- {name} of the process ---\n{text}" if text else "")
    return "\n".join(part for part in parts if part)


def _put_off(report: Report, why: str) -> BatchResult:
    """Return what a command has reported that may succeed later; raise TryAgainError if that is nothing."""
    why = shown(why.removesuffix(": "), 200)
    if not report.rewards:
        raise TryAgainError(why)
    return BatchResult(report.rewards, skipped=report.skipped, death=Trouble("crash", why), notes=report.notes)


def _result(arms: Sequence[str], report: Report) -> BatchResult:
    """Return what a report says of a batch that has come to its end."""
    troubles = {arm: Trouble("error", text) for arm, text in report.errors.items()}
    other = next(iter(report.others), None)
    missing = "the report does not name it" + ("" if other is None else f", but {quoted(other)}")
    troubles |= {arm: Trouble("missing", missing) for arm in arms if not report.names(arm)}
    return BatchResult(report.rewards, troubles, report.skipped, notes=report.notes)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"the report cannot be read: {error.strerror}") from None
