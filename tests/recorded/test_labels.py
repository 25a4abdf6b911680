"""What words for labels mean, and that no word is taken for another without a word."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.errors import InvalidInputError
from cutline.recorded.readers import iter_observations, read_observations

MIXED = ["yes", "no", " no ", "ignore", "unsure", "", "no"]


@pytest.fixture
def labels(tmp_path: Path) -> Callable[[list[str]], Path]:
    """Write labels as a file, one task each."""

    def write(words: list[str]) -> Path:
        path = tmp_path / "x.csv"
        path.write_text("task,label\n" + "".join(f"t{i},{word}\n" for i, word in enumerate(words)))
        return path

    return write


def read(path: Path, **reading: Any) -> tuple[dict[str, float], list[str]]:
    """The labels by task, and what was remarked."""
    remarks: list[str] = []
    rows = list(iter_observations(path, remark=remarks.append, **reading))
    return {row.task: row.label for row in rows}, [remark.replace(str(path), "FILE") for remark in remarks]


def refusal(path: Path, **reading: Any) -> str:
    with pytest.raises(InvalidInputError) as caught:
        read_observations(path, **reading)
    return str(caught.value).replace(str(path), "FILE")


def test_a_word_that_never_occurs_is_refused_with_those_that_do(labels: Callable[[list[str]], Path]) -> None:
    path = labels(["yes", "no", "no"])
    assert refusal(path, positive="Yes") == "FILE: no label is 'Yes'; there are 'no' (2), 'yes' (1)"
    assert (
        refusal(path, positive=["yes", "Yes", "y"]) == "FILE: no label is 'Yes' or 'y'; there are 'no' (2), 'yes' (1)"
    )
    assert refusal(path, positive="yes", skip="unsrue") == "FILE: no label is 'unsrue'; there are 'no' (2), 'yes' (1)"
    assert refusal(labels(["1", "0"]), skip="unsure") == "FILE: no label is 'unsure'; there are '0' (1), '1' (1)"


def test_of_many_words_the_most_frequent_are_named(labels: Callable[[list[str]], Path]) -> None:
    words = [f"w{number}" for number in range(30)] + ["often", "often"]
    assert refusal(labels(words), positive="yes") == (
        "FILE: no label is 'yes'; there are 'often' (2), 'w0' (1), 'w1' (1), 'w10' (1), 'w11' (1), 'w12' (1), "
        "'w13' (1), 'w14' (1), 'w15' (1), 'w16' (1), ..."
    )


def test_two_words_need_no_remark(labels: Callable[[list[str]], Path]) -> None:
    assert read(labels(["yes", "no"]), positive="yes") == ({"t0": 1.0, "t1": 0.0}, [])


def test_of_more_than_two_words_it_is_said_which_were_counted_as_0(labels: Callable[[list[str]], Path]) -> None:
    found, remarks = read(labels(["yes", "no", "ignore", "no"]), positive="yes")
    assert found == {"t0": 1.0, "t1": 0.0, "t2": 0.0, "t3": 0.0}
    assert remarks == [
        "FILE: counted as 0: 'no' (2), 'ignore' (1); --skip leaves such labels out, --negative says which alone are 0"
    ]


def test_words_to_skip_are_left_out_with_their_rows(labels: Callable[[list[str]], Path]) -> None:
    found, remarks = read(labels(MIXED), positive="yes", skip=["ignore", "unsure", ""])
    assert (found, remarks) == ({"t0": 1.0, "t1": 0.0, "t2": 0.0, "t6": 0.0}, [])
    assert read(labels(["1", "?", "0.5"]), skip="?") == ({"t0": 1.0, "t2": 0.5}, [])


def test_with_negative_words_any_other_word_is_refused_with_its_line(labels: Callable[[list[str]], Path]) -> None:
    words = {"positive": ["yes"], "negative": ["no"], "skip": [""]}
    message = "FILE, line 5: the label is 'ignore'; it must be 'yes', 'no', '', or a word named with --skip"
    assert refusal(labels(MIXED), **words) == message
    words["skip"] += ["ignore", "unsure"]
    assert read(labels(MIXED), **words) == ({"t0": 1.0, "t1": 0.0, "t2": 0.0, "t6": 0.0}, [])
    assert refusal(labels(["1"]), positive="yes", negative="no").startswith("FILE, line 2: the label is '1'; it must")


def test_where_all_words_are_named_one_may_be_absent_and_that_is_said(labels: Callable[[list[str]], Path]) -> None:
    found, remarks = read(labels(["no", "no"]), positive="yes", negative="no")
    assert (found, remarks) == ({"t0": 0.0, "t1": 0.0}, ["FILE: no label is 'yes'; there are 'no' (2)"])


def test_json_labels_are_words_as_they_stand_and_null_is_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"task": 1, "label": 2}\n{"task": 2, "label": null}\n{"task": 3, "label": true}\n')
    assert read(path, positive="2", negative="true", skip="") == ({"1": 1.0, "3": 0.0}, [])


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"positive": "a", "negative": ["b", "a"]}, "the label 'a' is both positive and negative"),
        ({"positive": ["a", " b"], "skip": "b"}, "the label 'b' is both positive and skip"),
        ({"negative": "a"}, "negative words go with positive words: give both, or positive alone"),
        ({"skip": ["a", "b"]}, "FILE: every label up to line 3 is one to skip, so none is left"),
    ],
)
def test_words_that_make_no_sense_together_are_refused(
    labels: Callable[[list[str]], Path], reading: dict[str, Any], message: str
) -> None:
    assert refusal(labels(["a", "b"]), **reading) == message
