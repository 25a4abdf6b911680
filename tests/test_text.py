"""What is shown of ids and other texts: one line, both ends, columns that stand below each other."""

import pytest
from hypothesis import given, strategies as st

from cutline.text import aligned, quoted, shown

LONG = "tests/unit/test_reading.py::TestReader::test_a_table_with_many_columns_is_read[tab-utf8-1]"


def test_the_middle_of_a_long_id_is_left_out_and_both_ends_stay() -> None:
    assert shown(LONG) == "tests/unit/test_reading.py::...y_columns_is_read[tab-utf8-1]"
    assert shown(LONG[:-2] + "2]") == "tests/unit/test_reading.py::...y_columns_is_read[tab-utf8-2]"
    assert shown("x" * 60) == "x" * 60


def test_control_characters_are_escaped() -> None:
    assert shown("a\tb\nc\x1b[31m\udcff") == r"a\tb\nc\x1b[31m\udcff"


@given(st.text(max_size=200), st.integers(10, 80))
def test_whatever_is_shown_is_one_printable_line_no_wider_than_wanted(text: str, widest: int) -> None:
    from rich.cells import cell_len

    found = shown(text, widest)
    assert found.isprintable()
    assert cell_len(found) <= widest


def test_a_message_quotes_both_ends_of_a_long_text() -> None:
    assert quoted("it's") == '"it\'s"'
    assert quoted("a" * 50 + "b" * 50) == repr("a" * 28 + "..." + "b" * 29)


def test_names_stand_to_the_left_and_numbers_to_the_right() -> None:
    assert aligned([["arm", "pulls"], ["a", "7"], ["longer", "1,000"]]) == [
        "arm     pulls",
        "a           7",
        "longer  1,000",
    ]


def test_a_character_that_takes_two_places_counts_as_two() -> None:
    assert aligned([["arm", "n"], ["\u732b\u732b", "1"]]) == ["arm   n", "\u732b\u732b  1"]


@pytest.mark.parametrize("left", [0, 1, 2])
def test_so_many_columns_stand_to_the_left(left: int) -> None:
    wide, narrow = aligned([["aaa", "bbb", "ccc"], ["x", "y", "z"]], left)
    assert [narrow.index(letter) for letter in "xyz"] == [5 * place + (0 if place < left else 2) for place in range(3)]
    assert len(wide) == 13
