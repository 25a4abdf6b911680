"""A file appears whole under its name, or not at all."""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cutline import InvalidInputError
from cutline.files import require_writable, whole_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "table.csv"
    with whole_file(target) as file:
        file.write("größe\n")
        assert not target.exists()
    assert target.read_bytes() == "größe\n".encode()
    with whole_file(target, "wb") as file:
        file.write(b"\x00\r\n")
    assert target.read_bytes() == b"\x00\r\n"
    assert names(target.parent) == ["table.csv"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_is_broken_off_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    (tmp_path / "table.csv").write_text("old")

    def break_off() -> None:
        with whole_file(tmp_path / "table.csv") as file:
            file.write("half")
            raise error

    with pytest.raises(error):
        break_off()
    assert names(tmp_path) == ["table.csv"]
    assert (tmp_path / "table.csv").read_text() == "old"


def test_folders_that_are_made_for_a_file_go_with_it_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for target in (tmp_path / "new" / "newer" / "table.csv", tmp_path / "mine" / "table.csv"):
        require_writable(target)
        assert names(tmp_path) == ["mine"]
        with pytest.raises(RuntimeError), whole_file(target):
            raise RuntimeError
        assert names(tmp_path) == ["mine"]
    with whole_file(tmp_path / "new" / "newer" / "table.csv") as file:
        file.write("whole")
    assert (tmp_path / "new" / "newer" / "table.csv").read_text() == "whole"


def test_a_disk_that_is_full_is_said_in_one_line(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    with pytest.raises(InvalidInputError) as caught, whole_file(target):
        raise OSError(28, os.strerror(28))
    assert str(caught.value) == f"cannot write {target}: No space left on device"
    assert names(tmp_path) == []


def test_a_place_that_cannot_be_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InvalidInputError) as caught, whole_file(tmp_path / "file" / "table.csv"):
        pass
    assert str(caught.value) == f"cannot write {tmp_path / 'file' / 'table.csv'}: Not a directory"
    with pytest.raises(InvalidInputError) as caught, whole_file(tmp_path):
        pass
    assert str(caught.value).startswith(f"cannot write {tmp_path}: ")
    assert names(tmp_path) == ["file"]


def test_a_new_file_has_the_rights_that_any_new_file_has(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with whole_file(tmp_path / "ours") as file:
        file.write("x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_folder_is_refused(tmp_path: Path) -> None:
    for refuse in (require_writable, lambda path: whole_file(path).__enter__()):
        with pytest.raises(InvalidInputError, match="it is a folder; give the name of a file"):
            refuse(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_written_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    require_writable(pipe)
    with whole_file(pipe) as file:
        file.write("plum\n")
    assert os.read(reader, 100) == b"plum\n"
    os.close(reader)
    assert pipe.is_fifo()
    full = pytest.raises(InvalidInputError, match="cannot write /dev/full: No space left on device")
    with full, whole_file("/dev/full") as file:
        file.write("plum\n")


@pytest.mark.parametrize("name", ["x.db", "x.db-wal", "x.db-shm", "x.db-journal"])
def test_a_database_is_not_written_over_but_by_another(tmp_path: Path, name: str) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.execute("CREATE TABLE labels (label)")
    before, target = (tmp_path / "x.db").read_bytes(), tmp_path / name
    what = "a database" if name == "x.db" else f"of the database {tmp_path / 'x.db'}"
    message = f"cannot write {target}: it is {what}; give another name, or remove it first"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(message)}$"), whole_file(target) as file:
        file.write("task,label\n")
    with pytest.raises(InvalidInputError, match=f"^{re.escape(message)}$"):
        require_writable(target)
    assert ((tmp_path / "x.db").read_bytes(), names(tmp_path)) == (before, ["x.db"])
    require_writable(tmp_path / "x.db", database=True)
    with whole_file(tmp_path / "x.db", "wb", database=True) as file:
        file.write(b"another")
    assert (tmp_path / "x.db").read_bytes() == b"another"
