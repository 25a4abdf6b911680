"""Logs of Inspect (inspect-ai), ``.eval`` or ``.json``: a sample an epoch.

Source: inspect-ai's own output: samples have id, epoch, uuid, error, and scores by the name of the scorer, whose value
is C, I, P or N, a truth value or a number. An ``.eval`` file is a zip archive with a JSON file for each sample, and at
the end of the eval one with a summary of each, ``summaries.json``, which is a twentieth as long and has all of these.
They are packed by Zstandard, which Python reads from 3.14 on; before, with the package zipfile-zstd, which inspect-ai
brings along.
"""

import importlib.util
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any, ClassVar

from cutline.errors import InvalidInputError
from cutline.recorded.documents import decode, objects, text_of
from cutline.recorded.formats._fields import text_at
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File
from cutline.text import quoted

_SUMMARIES = "summaries.json"
_ZIP = "PK\x03\x04"


class InspectLog(Format):
    """The log of a task that Inspect ran."""

    name = "inspect"
    tool = "Inspect, logs (.eval, .json)"
    task = "the sample's `id`"
    label = "the score: C is 1, P is 0.5, I and N are 0"
    worker = "none"
    key = "the sample's `uuid`, or file, id and epoch"
    leaves_out = "samples with an error, or without a score"
    meanings: ClassVar[Mapping[str, float]] = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
    asks = frozenset(("task", "label"))

    def recognises(self, beginning: Beginning) -> bool:
        if beginning.text.startswith(_ZIP):
            return "_journal/start.json" in beginning.text
        return beginning.begins("{") and beginning.has("eval", "status") and '"eval_id"' in beginning.text

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        zipped = file.beginning.startswith(_ZIP.encode("latin-1"))
        whole = choice.task is not None  # a summary leaves some fields out
        for line, row in _samples_of_archive(file, whole) if zipped else objects(file, ("samples",)):
            where = f"{file.name}, sample {line}" if zipped else f"{file.name}, line {line}"
            if row.get("error"):
                yield LeftOut(line, "errors")
                continue
            found, value = _score(row, choice.label, where)
            if not found:
                yield LeftOut(line, "without a score")
                continue
            sample, epoch = (text_at(row, name, name, where) for name in ("id", "epoch"))
            task = sample if choice.task is None else text_at(row, choice.task, "task", where)
            key = text_at(row, "uuid", "uuid", where) or f"{file.name} {sample} {epoch}"
            yield Answer(line, task, value, None, key)


def _score(row: dict[str, Any], scorer: str | None, where: str) -> tuple[bool, str | float | None]:
    """Return whether a sample has a score, and its value."""
    scores = row.get("scores")
    if not isinstance(scores, dict) or not scores:
        return False, None
    if scorer is None and len(scores) > 1:
        some = ", ".join(quoted(name) for name in scores)
        raise InvalidInputError(f"{where}: the scorers {some} have a score; --label-col says which counts")
    name = scorer or next(iter(scores))
    if name not in scores:
        raise InvalidInputError(f"{where}: no scorer {quoted(name)}; there is {', '.join(map(quoted, scores))}")
    value = scores[name].get("value") if isinstance(scores[name], dict) else None
    return value is not None, text_of(value, "score", where)


def _samples_of_archive(file: File, whole: bool) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the samples of an archive with their numbers: their summaries, or what is ``whole``."""
    if importlib.util.find_spec("zipfile_zstd") is not None:
        importlib.import_module("zipfile_zstd")
    if file.path == "-":
        raise InvalidInputError(f"{file.name} is an archive, which is read from its end; give the name of the file")
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = archive.namelist()
            if _SUMMARIES in names and not whole:
                with ExitStack() as ends:
                    packed: Any = ends.enter_context(archive.open(_SUMMARIES))
                    inside = File(file.path, f"{file.name}, {_SUMMARIES}", io.BufferedReader(packed), b"[", ends)
                    for number, (_, row) in enumerate(objects(inside), 1):
                        yield number, row
                return
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            for number, name in enumerate(samples, 1):
                yield number, decode(archive.read(name).decode(), f"{file.name}, {name}")
    except NotImplementedError:
        raise InvalidInputError(
            f"{file.name} is packed by Zstandard, which this Python cannot read; pip install zipfile-zstd, or convert "
            "it: inspect log convert --to json"
        ) from None
    except (zipfile.BadZipFile, OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidInputError(f"cannot read {file.name}: no whole archive: {error}") from None
