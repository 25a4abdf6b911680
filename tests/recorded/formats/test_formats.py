"""What stands in the file of each tool: tasks, labels, workers, keys, and what is left out of them and why."""

import gzip
import importlib.util
import io
import json
import re
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cutline import InvalidInputError, NotFoundError
from cutline.recorded import formats
from cutline.recorded.labelling import Labelled
from cutline.recorded.readers import read_pilot

FILES = Path(__file__).parent / "files"
WORDS = {"positive": "yes", "negative": "no"}
MOOD = {"positive": "positive", "negative": "negative"}


def found(name: str, **reading: Any) -> tuple[list[tuple[str, str | None, float, str | None]], str]:
    """The rows of a file, and what is said of it."""
    said: list[str] = []
    rows = Labelled(FILES / name, remark=said.append, **reading).rows(totals=False)
    every: list[Any] = list(rows)
    return [(row.task, row.worker, row.label, row.key) for row in every], "; ".join(said).replace(f"{FILES}/", "")


def complaint(path: Path, **reading: Any) -> str:
    with pytest.raises(InvalidInputError) as caught:
        list(Labelled(path, **reading).rows())
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), "FILE")


def test_mturk() -> None:
    rows = [("3A", "W1", 1.0, "A1"), ("3A", "W2", 0.0, "A2"), ("3B", "W3", 0.0, "A4")]
    assert found("mturk.csv", **WORDS) == (rows, "mturk.csv, read as mturk: left out 1 rejected")
    by_picture = [(row[0].replace("3A", "a.jpg").replace("3B", "b.jpg"), *row[1:]) for row in rows]
    assert found("mturk.csv", task_col="image_url", label_col="bird", **WORDS)[0] == by_picture


def test_toloka() -> None:
    rows = [("a.jpg", "w1", 1.0, "s1 a.jpg"), ("b.jpg", "w1", 0.0, "s1 b.jpg"), ("b.jpg", "w3", 1.0, "s3 b.jpg")]
    assert found("toloka.tsv", **WORDS) == (rows, "toloka.tsv, read as toloka: left out 1 control tasks, 1 rejected")


def test_appen() -> None:
    rows = [("11", "71", 1.0, "901"), ("11", "72", 0.0, "902"), ("12", "71", 0.0, "904")]
    assert found("appen.csv", **WORDS) == (rows, "appen.csv, read as appen: left out 1 tainted, 1 test questions")


def test_zooniverse() -> None:
    rows = [("31", "ann", 1.0, "501"), ("31", "not-logged-in-9f2c", 0.0, "502"), ("32", "ann", 1.0, "504")]
    words = {"positive": "Yes", "negative": "No"}
    assert found("zooniverse.csv", **words) == (rows, "zooniverse.csv, read as zooniverse: left out 1 no answer")


def test_cleanlab() -> None:
    labels = {"ann": "10-1", "bob": "110-", "cid": "0-01"}
    rows = [
        (f"e{number}", worker, float(text[number - 1]), None)
        for number in (1, 2, 3, 4)
        for worker, text in labels.items()
        if text[number - 1] != "-"
    ]
    assert found("cleanlab.csv") == (rows, "cleanlab.csv, read as cleanlab: left out nothing")


def test_prodigy() -> None:
    rows = [("-101", "ann", 1.0, None), ("-102", "ann", 0.0, None), ("-101", "s-bob", 1.0, None)]
    assert found("prodigy.jsonl") == (rows, "prodigy.jsonl, read as prodigy: left out 1 ignored")
    assert [row[0] for row in found("prodigy.jsonl", task_col="text")[0]] == ["good fun", "dull", "good fun"]


def test_label_studio() -> None:
    rows = [
        ("1", "1", 1.0, "1 101"),
        ("1", "2", 1.0, "1 102"),
        ("1", "4", 1.0, "1 104"),
        ("2", "1", 0.0, "2 105"),
        ("2", "2", 1.0, "2 106"),
        ("2", "3", 1.0, "2 107"),
        ("3", "1", 0.0, "3 109"),
        ("3", "3", 1.0, "3 111"),
    ]
    said = "label-studio.json, read as label-studio: left out 1 cancelled, 1 ground truth, 1 no choice"
    results, heard = found("label-studio.json", **MOOD)
    assert (sorted(results), heard) == (rows, said)
    texts = found("label-studio.json", task_col="text", label_col="sentiment", **MOOD)[0]
    assert [row[0] for row in sorted(texts, key=lambda row: str(row[3]))] == ["good fun"] * 3 + ["dull"] * 3 + [
        "so so"
    ] * 2


def test_argilla() -> None:
    users = [f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2)]
    labels = [("rec-1", 0, 1.0), ("rec-1", 1, 1.0), ("rec-2", 0, 0.0), ("rec-2", 1, 1.0), ("rec-3", 0, 0.0)]
    rows = [(task, users[by], label, None) for task, by, label in labels]
    assert found("argilla.json", **MOOD) == (rows, "argilla.json, read as argilla: left out nothing")
    assert found("argilla.json", task_col="fields.text", **MOOD)[0][2][0] == "dull"


def test_doccano_and_several_files_at_once() -> None:
    said: list[str] = []
    files = [FILES / "doccano" / name for name in ("ann.jsonl", "bob.jsonl")]
    rows: list[Any] = list(Labelled(files, remark=said.append, **MOOD).rows())
    assert [(row.task, row.worker, row.label, row.key) for row in rows] == [
        ("1", "ann", 1.0, None),
        ("2", "ann", 0.0, None),
        ("3", "ann", 0.0, None),
        ("1", "bob", 1.0, None),
        ("2", "bob", 1.0, None),
    ]
    assert said == [f"{files[0]} and 1 other, read as doccano: left out 1 no category"]


@pytest.mark.parametrize(
    ("name", "labels", "said"),
    [
        (
            "pytest.xml",
            {
                "test_suite.TestSum::test_small[1]": [1],
                "test_suite.TestSum::test_small[2]": [0],
                "test_suite::test_passes": [1],
                "test_suite::test_error": [0],
            },
            "2 skipped",
        ),
        ("go.xml", {"example.com/sum::TestAdd": [1], "example.com/sum::TestAdd/big": [0]}, "1 skipped"),
        ("jest.xml", {"sum one::sum one": [1], "sum two::sum two": [0]}, "1 skipped"),
        (
            "surefire.xml",
            {"org.example.SumTest::adds": [0, 1], "org.example.SumTest::multiplies": [0, 0]},
            "1 skipped",
        ),
    ],
)
def test_junit(name: str, labels: dict[str, list[int]], said: str) -> None:
    rows, heard = found(name)
    expected = [(test, None, float(label)) for test, every in labels.items() for label in every]
    assert [row[:3] for row in rows] == expected
    assert heard == f"{name}, read as junit: left out {said}"
    keys = [str(row[3]) for row in rows]
    assert len(set(keys)) == len(keys)
    assert {key.split()[0] for key in keys} == {keys[0].split()[0]}


def test_a_report_of_tests_has_other_keys_when_it_holds_anything_else(tmp_path: Path) -> None:
    text = (FILES / "go.xml").read_text()
    (tmp_path / "same.xml").write_text(text)
    (tmp_path / "packed.xml.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "later.xml").write_text(text.replace("08:00:00", "08:00:01"))
    keys = [row[3] for row in found("go.xml")[0]]
    assert [row[3] for row in found(str(tmp_path / "same.xml"))[0]] == keys
    assert [row[3] for row in found(str(tmp_path / "packed.xml.gz"))[0]] == keys
    assert not set(keys).intersection(row[3] for row in found(str(tmp_path / "later.xml"))[0])


def test_a_report_of_tests_comes_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe((FILES / "go.xml").read_bytes())))
    rows: list[Any] = list(Labelled("-").rows())
    assert [(row.task, None, row.label, row.key) for row in rows] == found("go.xml")[0]


def test_entities_of_xml_are_refused_before_anything_is_expanded(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xml"
    entities = '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">'
    path.write_text(f'<?xml version="1.0"?>\n<!DOCTYPE testsuite [{entities}]>\n<testsuite name="&b;"/>\n')
    assert complaint(path, format="junit").startswith("FILE, line 2: a document type; a report of tests has none")


def test_reportlog() -> None:
    rows, said = found("reportlog.jsonl")
    assert [row[:3] for row in rows] == [
        ("test_suite.py::TestSum::test_small[1]", None, 1.0),
        ("test_suite.py::TestSum::test_small[2]", None, 0.0),
        ("test_suite.py::test_passes", None, 1.0),
        ("test_suite.py::test_error", None, 0.0),
    ]
    assert all(re.fullmatch(re.escape(row[0]) + r" \d+\.\d+", str(row[3])) for row in rows)
    assert said == "reportlog.jsonl, read as pytest-reportlog: left out 1 expected to fail, 1 skipped"


@pytest.mark.parametrize("name", ["promptfoo.json", "promptfoo.jsonl"])
def test_promptfoo(name: str) -> None:
    rows, said = found(name)
    briefly, plain = "Answer briefly: {{q}}", "{{q}}"
    hello, world = '{"q": "hello"}', "needs world"
    parts = [
        (briefly, "echo", hello, 1),
        (plain, "echo", hello, 1),
        (briefly, "flaky", hello, 1),
        (plain, "flaky", hello, 0),
    ]
    expected = [
        *parts,
        *parts[:3],
        (briefly, "echo", world, 0),
        (plain, "echo", world, 0),
        (briefly, "flaky", world, 1),
    ]
    expected += [(plain, "flaky", world, 0), *expected[7:10]]
    assert [(*row[0].split(" | "), row[2]) for row in rows] == expected
    assert len({row[3] for row in rows}) == 14
    assert said == f"{name}, read as promptfoo: left out 2 errors"
    assert [row[0] for row in found(name, task_col="provider")[0]] == [row[1] for row in expected]
    assert [row[2] for row in found(name, label_col="score")[0]] == [row[2] for row in rows]


def test_inspect() -> None:
    rows, said = found("inspect.json")
    assert sorted(row[:3] for row in rows) == [
        ("sum", None, 0.0),
        ("sum", None, 1.0),
        ("word", None, 1.0),
        ("word", None, 1.0),
    ]
    assert len({row[3] for row in rows}) == 4
    assert said == "inspect.json, read as inspect: left out nothing"


def test_a_packed_log_of_inspect_is_read_or_it_is_said_what_is_missing() -> None:
    if importlib.util.find_spec("zipfile_zstd") is None and sys.version_info < (3, 14):
        assert complaint(FILES / "inspect.eval") == (
            "FILE is packed by Zstandard, which this Python cannot read; pip install zipfile-zstd, or convert it: "
            "inspect log convert --to json"
        )
    else:
        rows, _ = found("inspect.eval")
        assert sorted(row[:3] for row in rows) == sorted(row[:3] for row in found("inspect.json")[0])


def test_the_summaries_of_a_log_of_inspect_say_what_its_samples_say(tmp_path: Path) -> None:
    log = json.loads((FILES / "inspect.json").read_text(encoding="utf-8"))
    kept = ("id", "epoch", "uuid", "scores", "error")
    summaries = [{name: sample[name] for name in kept if name in sample} for sample in log["samples"]]
    summaries.append({**summaries[0], "uuid": "u", "error": "no answer"})
    path = tmp_path / "packed.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", "{}")
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    of_samples = list(Labelled(path).rows())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("summaries.json", json.dumps(summaries))
    said: list[str] = []
    assert [row[:3] + row[4:] for row in Labelled(path, remark=said.append).rows()] == [
        row[:3] + row[4:] for row in of_samples
    ]
    assert said == [f"{path}, read as inspect: left out 1 errors"]
    assert {row.task for row in Labelled(path, task_col="target").rows()} == {"2", "y"}


def test_a_file_that_is_no_text_is_no_table_either(tmp_path: Path) -> None:
    path = tmp_path / "packed.eval"
    path.write_bytes(b"PK\x03\x04_journal/start.json\ra,b\n")
    assert complaint(path).startswith("cannot read FILE: no whole archive: ")
    path.write_bytes(b"\x00\ra,b\n")
    assert complaint(path).startswith("FILE, line 1: ")


def test_lm_eval() -> None:
    rows = [
        (str(doc), None, label, f"samples_coin.jsonl strict {doc}") for doc, label in ((0, 0.0), (1, 1.0), (2, 0.0))
    ]
    assert found("samples_coin.jsonl") == (rows, "samples_coin.jsonl, read as lm-eval: left out 3 other filters")
    loose, said = found("samples_coin.jsonl", where="filter=loose", task_col="doc.q")
    assert [row[0] for row in loose] == ["1+1", "say", "x"]
    assert said == "samples_coin.jsonl, read as lm-eval: left out 3 without filter=loose"


def test_a_json_array_of_plain_rows_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        '[{"task": 1, "worker": "w", "label": true, "lang": "en"},\n {"task": 2, "label": 0, "lang": "de"}]'
    )
    assert found(str(path)) == ([("1", "w", 1.0, None), ("2", None, 0.0, None)], "")
    assert found(str(path), where=["lang=en"])[0] == [("1", "w", 1.0, None)]


@pytest.mark.parametrize("path", sorted(FILES.rglob("*.*")), ids=lambda path: path.name)
def test_every_file_is_recognised_as_what_it_is_called(path: Path) -> None:
    from cutline.recorded.opening import open_file

    names = {"samples_coin": "lm-eval", "reportlog": "pytest-reportlog", "ann": "doccano", "bob": "doccano"}
    names |= dict.fromkeys(("pytest", "go", "jest", "surefire"), "junit")
    with open_file(path) as file:
        form = formats.recognised(file)
    assert form is not None
    assert form.name == names.get(path.stem, path.stem)


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("label-studio.json", 1500),
        ("argilla.json", 600),
        ("promptfoo.json", 12000),
        ("prodigy.jsonl", 300),
        ("pytest.xml", 700),
        ("zooniverse.csv", 400),
        ("samples_coin.jsonl", 900),
    ],
)
def test_a_file_that_is_cut_off_is_one_line_with_the_line_number(tmp_path: Path, name: str, cut: int) -> None:
    path = tmp_path / name
    text = (FILES / name).read_text()[:cut]
    path.write_text(text)
    message = complaint(path, positive={"l": "positive", "a": "positive", "z": "Yes"}.get(name[0]))
    assert re.match(rf"FILE, line {text.count(chr(10)) + 1}\b", message), message


def test_a_format_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(NotFoundError) as caught:
        list(Labelled(FILES / "mturk.csv", format="mechanical").rows())
    names = [item.name for item in formats.available()]
    assert f"no format is called 'mechanical'; there is {', '.join(names)}, table" in str(caught.value)
    assert len(names) == 14


def test_as_a_table_a_file_has_the_columns_that_are_named() -> None:
    rows = [("3A", "W1", 1.0, None), ("3A", "W2", 0.0, None), ("3B", "W1", 1.0, None), ("3B", "W3", 0.0, None)]
    columns = {"task_col": "HITId", "label_col": "Answer.bird", "worker_col": "WorkerId"}
    assert found("mturk.csv", format="table", **columns, **WORDS) == (rows, "")


def test_what_is_wrong_with_an_element_has_the_line_where_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[\n  {"task": "a", "label": 1},\n  {\n    "task": "b",\n    "label": 7\n  }\n]\n')
    assert complaint(path).startswith("FILE, line 3: the label is '7'; ")


def test_what_is_wrong_at_the_end_of_an_array_has_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"task": "a", "label": 1},\n{"task":}]\n\n')
    assert complaint(path) == "FILE, line 2: not JSON: Expecting value"


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        (" [ ]\n", {}, "FILE is empty; it must have rows"),
        ("[]", {"format": "label-studio"}, "FILE: there is no result in it"),
        ("[]\n1", {}, "FILE, line 2: something follows the end of the array"),
    ],
)
def test_an_array_without_elements_has_no_results(
    tmp_path: Path, content: str, words: dict[str, str], message: str
) -> None:
    (tmp_path / "a.json").write_text(content)
    assert complaint(tmp_path / "a.json", **words) == message


def test_conditions_choose_rows_and_one_that_never_holds_is_refused() -> None:
    rows, said = found("mturk.csv", where=["WorkerId=W1", "WorkerId=W2"], **WORDS)
    assert [row[1] for row in rows] == ["W1", "W2"]
    assert said == "mturk.csv, read as mturk: left out 1 rejected, 1 without WorkerId=W1 or W2"
    message = complaint(FILES / "mturk.csv", where="WorkerId=W9", **WORDS)
    assert message == "FILE: no row has WorkerId=W9; in that column there is 'W1' (2), 'W2' (1), 'W3' (1)"
    assert complaint(FILES / "go.xml", where="a=b") == (
        "FILE is read as junit, which has no columns for --where to choose by"
    )
    assert complaint(FILES / "mturk.csv", where="W9") == ("the condition 'W9' is not COLUMN=VALUE, such as language=en")


def test_labels_that_a_format_knows_take_no_words() -> None:
    assert complaint(FILES / "go.xml", positive="x") == (
        "FILE is read as junit, which knows what is 1 and what is 0 by itself"
    )


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("go.xml", {"task_col": "x"}, "FILE is read as junit, which finds the task by itself; leave out --task-col"),
        (
            "reportlog.jsonl",
            {"label_col": "outcome"},
            "FILE is read as pytest-reportlog, which finds the label by itself; leave out --label-col",
        ),
        (
            "cleanlab.csv",
            {"worker_col": "ann"},
            "FILE is read as cleanlab, which finds the worker by itself; leave out --worker-col",
        ),
        ("label-studio.json", {"task_col": "txt"}, "FILE, line 2: there is no 'txt', which --task-col names"),
        ("promptfoo.json", {"label_col": "x"}, "FILE, line 197: there is no 'x', which --label-col names"),
        (
            "zooniverse.csv",
            {"label_col": "T9"},
            "FILE: no result is left: left out 4 no answer; is 'T9', which --label-col names, there?",
        ),
    ],
)
def test_a_field_that_is_not_there_or_is_not_asked_for_is_told(name: str, words: dict[str, str], message: str) -> None:
    assert complaint(FILES / name, **words, positive="positive" if name == "label-studio.json" else None) == message


def test_a_pilot_may_be_a_file_of_labels() -> None:
    pilot = read_pilot(FILES / "surefire.xml")
    assert pilot.arms == ("org.example.SumTest::adds", "org.example.SumTest::multiplies")
    assert (pilot.pulls.tolist(), pilot.totals.tolist()) == ([2, 2], [1.0, 0.0])


MINE = """
from cutline.recorded.formats import Answer, Format

class Mine(Format):
    name = "mine"
    tool = task = label = worker = key = leaves_out = "mine"

    def recognises(self, beginning):
        return beginning.begins("MINE")

    def read(self, file, choice):
        for number, line in enumerate(file.lines(), 1):
            if number > 1:
                yield Answer(number, line.split()[0], float(line.split()[1]))
"""


def test_a_format_of_an_installed_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_of_a_user.py").write_text(MINE)
    declared = tmp_path / "mine-1.2.dist-info"
    declared.mkdir()
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.2\n")
    (declared / "entry_points.txt").write_text(
        "[cutline.formats]\nmine = mine_of_a_user:Mine\nbroken = mine_of_a_user:Nothing\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    formats._from_packages.cache_clear()
    try:
        (tmp_path / "a.txt").write_text("MINE\na 1\nb 0\n")
        assert found(str(tmp_path / "a.txt"))[0] == [("a", None, 1.0, None), ("b", None, 0.0, None)]
        (line,) = formats.unusable()
        assert line.startswith(
            "the format broken = 'mine_of_a_user:Nothing' of the package mine 1.2 cannot be used: loading it fails with"
        )
    finally:
        formats._from_packages.cache_clear()
        shutil.rmtree(declared)
        sys.modules.pop("mine_of_a_user", None)
