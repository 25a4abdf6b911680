"""cutline serve refuses what it cannot serve with, in one line and before anything is made."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a server is started in."""
    monkeypatch.chdir(tmp_path)
    Path("no.pem").write_text("no certificate\n")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--port 99999", "port is 99999; it must be a whole number from 0 to 65535"),
        ("--port -1", "port is -1; it must be a whole number from 0 to 65535"),
        ("--host 192.0.2.1", "cannot listen at 192.0.2.1, port 8000: Cannot assign requested address"),
        (f"--host {'x' * 70}", f"cannot listen at {'x' * 70}, port 8000: "),
        ("--host 0.0.0.0 --port 0", "whoever reaches 0.0.0.0 could do everything, since there is no token; make one "),
        ("--media nothere", "media 'nothere' is not a folder"),
        ("--processes 0", "processes is 0; it must be a whole number from 1 to 1000"),
        ("--processes 1000000", "processes is 1000000; it must be a whole number from 1 to 1000"),
        ("--worker-header a:b", "worker header 'a:b': no header has that name; give one such as X-Remote-User"),
        ("--worker-header=", "worker header '': no header has that name; give one such as X-Remote-User"),
        ("--root-path labels", "root path 'labels': it must begin with / and not end with one, as in /labels"),
        ("--root-path /labels/", "root path '/labels/': it must begin with / and not end with one, as in /labels"),
        ("--root-path /a/../b", "root path '/a/../b': it must begin with / and not end with one, as in /labels"),
        ("--root-path //host", "root path '//host': it must begin with / and not end with one, as in /labels"),
        ("--root-path /a?b", "root path '/a?b': it must begin with / and not end with one, as in /labels"),
        ("--root-path /é", "root path '/é': it must begin with / and not end with one, as in /labels"),
        ("--forwarded-allow-ips proxy", "'proxy' is no list of addresses"),
        ("--ssl-certfile no.pem", "--ssl-certfile and --ssl-keyfile go together; give both, or none"),
        ("--ssl-certfile a.pem --ssl-keyfile no.pem", "'a.pem': No such file or directory"),
        ("--ssl-certfile no.pem --ssl-keyfile b.pem", "'b.pem': No such file or directory"),
        ("--ssl-certfile= --ssl-keyfile=", "'': Is a directory; give the files of a certificate and its key"),
        ("--ssl-certfile no.pem --ssl-keyfile no.pem", "no.pem and no.pem are no certificate and its key, as PEM"),
    ],
)
def test_what_it_cannot_serve_with_is_refused_before_there_is_a_database(
    cutline: Run, options: str, message: str
) -> None:
    done = cutline("serve", "--db", "x.db", *options.split())
    assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1), done.err
    assert done.err.startswith(f"cutline: {message}")
    assert not Path("x.db").exists()


def test_a_key_with_a_password_is_refused_instead_of_asked_for(cutline: Run) -> None:
    openssl = shutil.which("openssl")
    assert openssl is not None
    make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -passout pass:s3cret -subj /CN=x -keyout k -out c"
    subprocess.run([openssl, *make.split()], check=True, capture_output=True)
    done = cutline("serve", "--db", "x.db", "--ssl-certfile", "c", "--ssl-keyfile", "k")
    assert (done.status, done.err) == (
        2,
        "cutline: k is encrypted; a server needs it plain: openssl pkey -in KEY -out PLAIN\n",
    )
