"""Rows as JSON, piece by piece."""

import json
from typing import Any

import pytest

from cutline.cli._tables import rows_as_json


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 2500])
def test_the_pieces_of_rows_are_the_json_of_their_list(count: int) -> None:
    rows: list[dict[str, Any]] = [{"arm": f"a\n{i}", "payload": {"x": [i, "ü"]}, "mean": None} for i in range(count)]
    pieces = list(rows_as_json(iter(rows)))
    assert "".join(pieces) == json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    assert len(pieces) == -(-count // 1000) + 1
