"""A folder with the output of the last failures of each test."""

import hashlib
import re
import threading
from collections import Counter
from pathlib import Path

from cutline.errors import InvalidInputError
from cutline.files import require_writable

KEPT = 3
"""So many failures of a test are kept."""


class FailureLogs:
    """Writes what a test has written when it failed; safe to use from several threads.

    The files of a test are called after its id: what is no letter, digit or one of ``.-[]`` becomes ``_``, and eight
    digits tell apart what is then alike.
    """

    def __init__(self, folder: Path) -> None:
        """Raises InvalidInputError if the folder cannot be written to."""
        require_writable(folder / "failures.txt")
        self._folder = folder
        self._lock = threading.Lock()
        self._count: Counter[str] = Counter()
        self.wrong: str | None = None

    def keep(self, arm: str, text: str) -> None:
        """Keep what an arm has written; what cannot be written is lost, and ``wrong`` says why."""
        with self._lock:
            number = self._count[arm] % KEPT + 1
            self._count[arm] += 1
            name = re.sub(r"[^\w.\[\]-]+", "_", arm)[:100]
            digits = hashlib.sha256(arm.encode()).hexdigest()[:8]
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                path = self._folder / f"{name}.{digits}.{number}.txt"
                path.write_text(f"{arm}\n{text}\n", encoding="utf-8", errors="backslashreplace")
            except OSError as error:
                self.wrong = self.wrong or f"cannot write {self._folder}: {error.strerror}"


def open_logs(folder: str | None) -> FailureLogs | None:
    """Return the logs in a folder, None without one; raise InvalidInputError if it cannot be written to."""
    if folder is None:
        return None
    if Path(folder).is_file():
        raise InvalidInputError(f"cannot write {folder}: it is a file; give the name of a folder")
    return FailureLogs(Path(folder))
