"""Results of promptfoo, JSON or JSON Lines: a result a prompt, provider, test and repeat.

Source: promptfoo's own output, ``promptfoo eval --output results.json``: prompt.label, provider.label or provider.id,
testCase.description or vars, success, score, and failureReason: 0 none, 1 an assertion, 2 an error.
"""

import json
from collections.abc import Iterator
from typing import Any

from cutline.errors import InvalidInputError
from cutline.recorded.documents import objects, text_of
from cutline.recorded.formats._fields import is_true, text_at
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File

_ERROR = "2"


class Promptfoo(Format):
    """The results of an evaluation by promptfoo."""

    name = "promptfoo"
    tool = "promptfoo, results (JSON, JSON Lines)"
    task = "prompt, provider and test, or one of these three"
    label = "`success`, or `score`"
    worker = "none"
    key = "the result's `id`"
    leaves_out = "errors (`failureReason` 2)"
    asks = frozenset(("task", "label"))

    def recognises(self, beginning: Beginning) -> bool:
        return beginning.begins("{") and (beginning.has("evalId", "results") or beginning.has("promptIdx", "provider"))

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        start = file.beginning.decode(errors="replace")
        at = ("results", "results") if Beginning(file.name, start).has("evalId") else ()
        for line, row in objects(file, at):
            where = f"{file.name}, line {line}"
            if text_at(row, "failureReason", "failureReason", where) == _ERROR:
                yield LeftOut(line, "errors")
                continue
            label = row.get(choice.label or "success")
            value = float(is_true(label)) if isinstance(label, bool) else text_of(label, "label", where)
            yield Answer(line, _task(row, choice.task, where), value, None, text_at(row, "id", "id", where))


def _task(row: dict[str, Any], part: str | None, where: str) -> str:
    case = row.get("testCase")
    parts = {
        "prompt": text_at(row, "prompt.label", "prompt", where) or text_at(row, "prompt.raw", "prompt", where) or "",
        "provider": text_at(row, "provider.label", "provider", where) or text_at(row, "provider.id", "provider", where),
        "test": text_at(case, "description", "test", where) or _variables(row.get("vars")),
    }
    if part is not None and part not in parts:
        raise InvalidInputError(f"{where}: no {part} of a result; the task is one of {', '.join(parts)}, or all three")
    return (parts[part] or "") if part is not None else " | ".join(text or "" for text in parts.values())


def _variables(found: Any) -> str:
    return json.dumps(found or {}, ensure_ascii=False, sort_keys=True)
