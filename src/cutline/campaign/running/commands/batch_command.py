"""A shell command as the measurement of a batch: it is given many arms at once and writes a report of them."""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import TypeAlias

from cutline.campaign.results import Pull
from cutline.campaign.running.commands.endings import Endings, last_line
from cutline.campaign.running.commands.processes import Processes
from cutline.campaign.running.commands.progress import Progress
from cutline.campaign.running.commands.reports import Format, Report, read_junit
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

Prepare: TypeAlias = Callable[[Sequence[str], Path, Path], Mapping[str, str]]
"""Given the arms of a batch, a folder of its own and the name of the report: the environment that tells a command."""

Keep: TypeAlias = Callable[[str, str], object]
"""Takes an arm and what it wrote when it failed."""


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
        prepare: Prepare | None = None,
        keep: Keep | None = None,
    ) -> None:
        """``timeout`` in seconds, for each arm of a batch. ``crash_exits``: exit statuses by which it has died.

        ``retry_exits``: those by which it says that it may succeed later; what it has reported counts all the same, and
        if that is nothing, TryAgainError is raised.
        ``prepare`` is for a command that is told its arms by the environment, and says of each arm when it begins: one
        that dies before any has begun says nothing of any of them. ``keep`` is given what is reported of failures.
        Raises InvalidInputError if an argument is missing, the program is not there, or an option is out of range.
        """
        if prepare is None:
            _check(arguments)
        self._arguments = tuple(arguments)
        self._format = report
        self._timeout = None if timeout is None else check_positive("timeout", timeout)
        self._endings = Endings(crash_exits, retry_exits=retry_exits)
        self._prepare = prepare
        self._keep = keep
        self._processes = Processes()
        self._lock = threading.Lock()
        self._running: set[Progress] = set()

    def __call__(self, batch: Sequence[Pull]) -> BatchResult:
        """Run the command for a batch of distinct arms and return what came of them."""
        arms = [pull.arm for pull in batch]
        with tempfile.TemporaryDirectory(prefix="cutline-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            says_begin = self._prepare is not None
            lines = self._format == "jsonl"
            progress = Progress(folder / "report", arms, self._timeout, lines=lines, says_begin=says_begin)
            with self._lock:
                self._running.add(progress)
            try:
                return self._measure(arms, folder, progress)
            finally:
                with self._lock:
                    self._running.discard(progress)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to every process of the batches that run now; what they report from now on does not count."""
        with self._lock:
            for progress in self._running:
                progress.freeze()
        self._processes.stop(how)

    def _measure(self, arms: Sequence[str], folder: Path, progress: Progress) -> BatchResult:
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
            late, status = False, 0
            try:
                status = self._processes.run(
                    self._filled(arms, folder, progress.path),
                    output if self._prepare else subprocess.DEVNULL,
                    errors,
                    is_late=progress.is_late,
                    environment=self._prepare(arms, folder, progress.path) if self._prepare else None,
                )
            except TimeoutError:
                late = True
            except (OSError, ValueError) as error:
                text = f"cannot run {self._arguments[0]!r}: {getattr(error, 'strerror', None) or error}"
                return BatchResult(death=Trouble("crash", text), suspects=() if self._prepare else arms)
            said = [last_line(errors), last_line(output)]
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
            return self._died(Trouble("timeout", f"took longer than {self._timeout:g} s"), arms, report, progress.late)
        if self._endings.is_momentary(status):
            return _put_off(report, f"exit status {status}: {said[0] or said[1]}")
        death = self._endings.crash(status)
        if death is None and wrong is not None:
            death = f"exit status {status}, {wrong}" if status else wrong
        if death is None and report.begun:
            death = f"exit status {status} before its end"
        if death is None:
            return _result(arms, report)
        last = shown(said[0] or ("" if report.begun else said[1]), 200)  # of a test its end is known by the arm
        return self._died(Trouble("crash", f"{death}: {last}" if last else death), arms, report, report.begun)

    def _died(self, death: Trouble, arms: Sequence[str], report: Report, accused: Collection[str]) -> BatchResult:
        """Return the result of a batch that has died while the ``accused`` were measured."""
        others = [] if self._prepare else [arm for arm in arms if not report.names(arm)]
        errors = {arm: Trouble("error", text) for arm, text in report.errors.items()}
        return BatchResult(report.rewards, errors, report.skipped, death, list(accused) or others, report.notes)

    def _filled(self, arms: Sequence[str], folder: Path, report: Path) -> list[bytes]:
        """Return the arguments for a batch; ids are UTF-8, whatever encoding the locale has for arguments."""
        if self._prepare:
            return [os.fsencode(word) for word in self._arguments]
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
