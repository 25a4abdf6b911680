"""JSON arrays are read element by element as json.loads reads them at once, however they are laid out."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.errors import InvalidInputError
from cutline.recorded.documents import objects
from cutline.recorded.labelling import Labelled
from cutline.recorded.opening import open_file

LOG = Path(__file__).parent / "formats" / "files" / "inspect.json"
ODD = 'she said: {"id": [1, 2]}\n  },\n ]\u2028é 漢 \\" \U0001f600'

LAYOUTS: dict[str, Callable[[Any], str]] = {
    "compact": lambda log: json.dumps(log, separators=(",", ":")),
    "one line": json.dumps,
    "unicode as it stands": lambda log: json.dumps(log, ensure_ascii=False, indent=2),
    "indented by 4": lambda log: json.dumps(log, indent=4),
    "indented by tabs": lambda log: json.dumps(log, indent="\t"),
    "with CRLF": lambda log: json.dumps(log, indent=2).replace("\n", "\r\n"),
    "with spaces about": lambda log: json.dumps(log, indent=2).replace(":", " : ").replace("\n", " \n\n "),
}


@pytest.fixture
def log() -> Any:
    """A log of Inspect, with odd text in its samples and one that is much longer than the others."""
    found = json.loads(LOG.read_text(encoding="utf-8"))
    for sample in found["samples"]:
        sample["messages"][0]["content"] = ODD
    found["samples"][1]["messages"][0]["content"] = ODD * 10_000
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_log_says_the_same_however_it_is_laid_out(tmp_path: Path, log: Any, layout: str) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(LAYOUTS[layout](log).encode())
    scores = {"C": 1.0, "I": 0.0}
    assert [row[:3] for row in Labelled(path).rows()] == [
        (sample["id"], None, scores[sample["scores"]["includes"]["value"]]) for sample in log["samples"]
    ]


def test_elements_of_any_length_are_read_each_with_the_line_where_it_begins(tmp_path: Path) -> None:
    chance = random.Random(5)
    rows = [{"text": "x" * int(10 ** chance.uniform(0, 6)), "lines": ["", ODD]} for _ in range(60)]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    with open_file(path) as file:
        found = list(objects(file))
    assert [row for _, row in found] == rows
    each = len(json.dumps(rows[0], indent=1).splitlines())
    assert [line for line, _ in found] == [2 + each * number for number in range(60)]


def test_a_log_that_is_cut_off_anywhere_is_one_line_with_the_line_number(tmp_path: Path, log: Any) -> None:
    text = json.dumps(log, indent=2, ensure_ascii=False).encode()
    path = tmp_path / "log.json"
    begin = text.index(b'"samples"')
    end = text.index(b'"reductions"')
    for cut in random.Random(7).sample(range(begin, end - 20), 30):
        path.write_bytes(text[:cut])
        with pytest.raises(InvalidInputError) as caught:
            list(Labelled(path).rows())
        message = str(caught.value)
        assert message.startswith(f"{path}, line ")
        assert "\n" not in message
