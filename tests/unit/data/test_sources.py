"""Check raw files: downloads over real HTTP on loopback, and wrong files."""

import gzip
import hashlib
import http.server
import os
import shutil
import ssl
import subprocess
import threading
import time

import pytest

from privarms.data import sources
from privarms.errors import PrivarmsError

CONTENT = b"a,b\n1,2\n" * 5000
SHA = hashlib.sha256(CONTENT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Serve the file at every address, except status 404 at /missing and the server's own `answers`."""

    def do_GET(self):
        self.server.paths.append(self.path)
        if self.path.startswith("/missing"):
            return self.send_error(404)
        body = {"/other": b"something else", **self.server.answers}.get(self.path, CONTENT)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # pooch waits a second longer before each retry.
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.paths, server.answers = [], {}
        server.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def toy(url=None, sha256=SHA, **keys):
    """Return a dataset of one file, a manual download without an address; `keys` are those of the file or entry."""
    place = {"url": url} if url else {"by_hand": "Log in at example.org and download a.csv."}
    of_file = {k: keys.pop(k) for k in ("rows", "probe") if k in keys}
    file = {"name": "a.csv", **({"sha256": sha256} if sha256 else {}), **place, **of_file}
    dataset = sources.describe("toy", [file], title="Toy", licence="CC0", citation="Nobody (2025)", **keys)
    return dataset, dataset.files[0]


def files_below(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def mirror_with(folder, content=CONTENT):
    (folder / "toy").mkdir(parents=True)
    (folder / "toy" / "a.csv").write_bytes(content)
    return str(folder)


def test_a_file_of_the_mirror_is_copied_and_then_stays(tmp_path):
    dataset, file = toy()
    raw, mirror = tmp_path / "raw", mirror_with(tmp_path / "mirror")
    assert sources.obtainable([dataset], raw) == set()
    assert sources.obtainable([dataset], raw, mirror) == {"toy"}
    assert not raw.exists()
    path = sources.fetch(dataset, file, raw, mirror)
    assert path == raw / "toy" / "a.csv"
    assert path.read_bytes() == CONTENT
    assert files_below(raw) == ["toy/a.csv"]
    assert sources.fetch(dataset, file, raw, mirror=None) == path
    assert sources.obtainable([dataset], raw) == {"toy"}


def test_a_mirror_without_the_file_is_passed_over(tmp_path, server):
    dataset, file = toy(server.address + "/ok")
    mirror = tmp_path / "empty"
    mirror.mkdir()
    assert sources.obtainable([dataset], tmp_path / "none", str(mirror)) == {"toy"}
    assert sources.fetch(dataset, file, tmp_path / "raw", str(mirror)).read_bytes() == CONTENT


@pytest.mark.parametrize(("place", "reason"), [("/missing", "404"), ("/other", SHA)])
def test_a_download_that_fails_is_one_clear_error_and_leaves_nothing(tmp_path, server, place, reason):
    dataset, file = toy(server.address + place)
    with pytest.raises(PrivarmsError, match=reason) as caught:
        sources.fetch(dataset, file, tmp_path / "raw")
    assert str(caught.value).startswith(file.url)
    assert str(caught.value).endswith(f"or copy the file to {tmp_path}/raw/toy/a.csv")
    assert "\n" not in str(caught.value)
    assert files_below(tmp_path) == []


# What portals, logins and repositories answer with status 200 instead of a file without a checksum.
INSTEAD = [
    ("a.csv", b"", "an empty file"),
    ("a.csv", b"<!DOCTYPE html><html><body>Log in</body></html>", "a page in HTML"),
    ("a.csv", b'{"error": true, "message": "Too many requests"}\n', 'JSON: {"error": true'),
    ("a.csv", b'[\n {\n  "message": "Too many requests"}]\n', 'JSON: . { "message"'),
    ("a.csv", gzip.compress(CONTENT, mtime=0), "a file compressed by gzip"),
    ("a.csv", "a,b\n1,2\n".encode("utf-16"), "text in UTF-16"),
    ("a.csv", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a pointer of Git LFS"),
    ("a.csv", b"a,b\n", "a single line"),
    ("a.parquet", b"PAR1" + b"\0" * 100, "no complete Parquet file"),
]


@pytest.mark.parametrize(("name", "answer", "found"), INSTEAD)
def test_an_answer_that_is_not_the_file_is_not_kept(tmp_path, server, name, answer, found):
    server.answers["/instead"] = answer
    dataset, file = toy(server.address + "/instead", sha256=None)
    file = file.model_copy(update={"name": name})
    with pytest.raises(PrivarmsError, match=found) as caught:
        sources.fetch(dataset, file, tmp_path / "raw")
    assert str(caught.value).endswith(f"or copy the file to {tmp_path}/raw/toy/{name}")
    assert files_below(tmp_path) == []
    # A user who saved the answer is told to delete it.
    place = tmp_path / name
    place.write_bytes(answer)
    with pytest.raises(PrivarmsError, match=found) as caught:
        sources.verify(file, place)
    assert str(caught.value).startswith(f"{place}: wrong file: ")


def test_an_answer_with_a_wrong_checksum_is_described(tmp_path, server):
    server.answers["/instead"] = b"<!DOCTYPE html><html><body>Log in</body></html>"
    dataset, file = toy(server.address + "/instead")
    with pytest.raises(PrivarmsError, match=rf"a page in HTML.* expected SHA-256 {SHA}"):
        sources.fetch(dataset, file, tmp_path / "raw")


def test_others_may_read_a_downloaded_file_as_the_umask_says(tmp_path, server):
    dataset, file = toy(server.address + "/ok")
    before = os.umask(0o027)
    try:
        path = sources.fetch(dataset, file, tmp_path / "raw")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path):
    dataset, file = toy()
    (tmp_path / "toy/a.csv").mkdir(parents=True)
    with pytest.raises(PrivarmsError, match=r"a\.csv: cannot be read: Is a directory"):
        sources.fetch(dataset, file, tmp_path)


@pytest.mark.parametrize("content", [b"[a],<b>\n1,2\n", b"\xef\xbb\xbfa\n1\n", b"a\r\n1"])
def test_unusual_tables_are_taken(tmp_path, content):
    (tmp_path / "a.csv").write_bytes(content)
    assert sources.other_content(toy()[1], tmp_path / "a.csv") is None


def test_a_server_that_cannot_be_reached_is_named_in_a_short_line(tmp_path, server):
    dataset, file = toy("http://127.0.0.1:9/a.csv")
    with pytest.raises(PrivarmsError) as caught:
        sources.fetch(dataset, file, tmp_path / "raw")
    place = tmp_path / "raw/toy/a.csv"
    assert str(caught.value) == f"{file.url}: no connection to 127.0.0.1; try again, or copy the file to {place}"


@pytest.fixture
def secure(server, tmp_path):
    """Serve the same by HTTPS, with an unknown certificate."""
    names = ("-keyout", tmp_path / "key.pem", "-out", tmp_path / "certificate.pem")
    subject = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *names, *subject]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.address = server.address.replace("http:", "https:")
    return server


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_network_with_certificates_of_its_own(tmp_path, secure, monkeypatch):
    dataset, file = toy(secure.address + "/ok")
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    with pytest.raises(PrivarmsError, match=r"certificate verify failed.*; .* set REQUESTS_CA_BUNDLE"):
        sources.fetch(dataset, file, tmp_path / "raw")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "nothing.pem"))
    assert sources.obtainable([dataset], tmp_path / "raw") == set()
    with pytest.raises(PrivarmsError, match=r"nothing\.pem; correct REQUESTS_CA_BUNDLE"):
        sources.fetch(dataset, file, tmp_path / "raw")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "certificate.pem"))
    assert sources.obtainable([dataset], tmp_path / "raw") == {"toy"}
    assert sources.fetch(dataset, file, tmp_path / "raw").read_bytes() == CONTENT


def test_a_proxy_that_does_not_answer_is_named_instead_of_the_server(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", "http://user:secret@127.0.0.1:9")
    dataset, file = toy("http://example.org/a.csv")
    with pytest.raises(PrivarmsError, match=r"no connection to the proxy; correct or unset HTTP_PROXY") as caught:
        sources.fetch(dataset, file, tmp_path / "raw")
    assert "secret" not in str(caught.value)


def test_a_server_that_stops_answering_is_not_one_without_connection(tmp_path, server, monkeypatch):
    monkeypatch.setattr(sources, "READ_SECONDS", 0.2)
    done = threading.Event()

    def stop(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b"a,b\n")
        handler.wfile.flush()
        done.wait(10)

    monkeypatch.setattr(Handler, "do_GET", stop)
    dataset, file = toy(server.address + "/ok")
    try:
        with pytest.raises(PrivarmsError, match=r"no answer from 127\.0\.0\.1 for 0 seconds"):
            sources.fetch(dataset, file, tmp_path / "raw")
    finally:
        done.set()
    assert files_below(tmp_path) == []


def test_missing_files_are_looked_for_at_their_probes_and_those_that_are_here_are_not(tmp_path, server):
    here, probed, gone = (
        toy(f"{server.address}/{name}", folder=name, probe=server.address + probe)[0]._replace(name=name)
        for name, probe in (("here", "/here"), ("probed", "/ok"), ("gone", "/missing"))
    )
    mirror_with(tmp_path)
    (tmp_path / "toy").rename(tmp_path / "here")
    assert sources.obtainable([here, probed, gone], tmp_path) == {"here", "probed"}
    assert sorted(server.paths) == ["/missing", "/ok"]


def test_a_file_without_a_checksum_is_taken_as_it_is(tmp_path):
    dataset, file = toy(sha256=None)
    path = sources.fetch(dataset, file, tmp_path / "raw", mirror_with(tmp_path / "mirror", b"any,thing\n1,2\n"))
    assert sources.verify(file, path) == hashlib.sha256(b"any,thing\n1,2\n").hexdigest()
    assert "5,000 rows" in sources.missing_message(toy(sha256=None, rows=5000)[0])


def test_a_wrong_checksum_names_the_file_and_both_and_deletes_nothing(tmp_path):
    dataset, file = toy()
    other = CONTENT.replace(b"1", b"2", 1)
    actual = hashlib.sha256(other).hexdigest()
    mirror = mirror_with(tmp_path / "mirror", other)
    mirror_with(tmp_path / "raw", other)
    for raw, wrong in (("raw", "raw/toy/a.csv"), ("none", "mirror/toy/a.csv")):
        with pytest.raises(PrivarmsError) as caught:
            sources.fetch(dataset, file, tmp_path / raw, mirror)
        assert str(caught.value) == (
            f"{tmp_path / wrong}: wrong file: expected SHA-256 {SHA}, found {actual}; delete it and get it again "
            f"({file.by_hand})"
        )
    assert files_below(tmp_path) == ["mirror/toy/a.csv", "raw/toy/a.csv"]


def test_a_place_that_cannot_be_written_is_named(tmp_path, server):
    (tmp_path / "raw").write_text("a file where the folder should be")
    for actual, mirror in ((toy(), mirror_with(tmp_path / "mirror")), (toy(server.address + "/ok"), None)):
        with pytest.raises(PrivarmsError, match=r"raw/toy/a\.csv: cannot be written"):
            sources.fetch(*actual, tmp_path / "raw", mirror)


def test_the_missing_message_says_all(tmp_path):
    by_hand, file = toy()
    with pytest.raises(PrivarmsError) as caught:
        sources.fetch(by_hand, file, tmp_path)
    assert str(caught.value) == sources.missing_message(by_hand, tmp_path)
    for part in (str(tmp_path / "toy" / "a.csv"), file.by_hand, SHA, sources.MIRROR_VARIABLE):
        assert part in str(caught.value)
    assert "from https://example.org/a.csv" in sources.missing_message(toy("https://example.org/a.csv")[0])


def test_the_mirror_in_force(tmp_path, monkeypatch):
    monkeypatch.setenv(sources.MIRROR_VARIABLE, str(tmp_path))
    assert sources.choose_mirror() == str(tmp_path)
    monkeypatch.setenv(sources.MIRROR_VARIABLE, "")
    assert sources.choose_mirror("") is None
    with pytest.raises(PrivarmsError, match=f"mirror: no folder {tmp_path}/nowhere"):
        sources.choose_mirror(f"{tmp_path}/nowhere")


ENTRY = f"""
toy:
  title: Toy
  licence: CC0
  citation: Nobody
  files:
    - name: a.csv
      url: https://example.org/a.csv
      sha256: {SHA}
"""


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("licence: CC0", "license: CC0", "licence"),
        (SHA, SHA[:-1], "sha256"),
        ("name: a.csv", "name: ../a.csv", "name"),
        ("  files:", "  table: {source: {column: a, target: b}}\n  files:", "table.*label"),
        ("sha256:", "by_hand: Ask.\n      sha256:", "'url' and 'by_hand'; found both"),
        ("  files:", "  module: adult\n  table: {label: a}\n  files:", "toy.module: expected no such key"),
        ("  files:", "  table: {label: a, missing: [null]}\n  files:", r"missing\[0\]: .* words such as null"),
        ("name: a.csv", "name: a.csv\n      probe: ftp://x", "probe: expected an address that begins with http"),
    ],
)
def test_a_faulty_list_of_sources_is_refused(tmp_path, old, new, key):
    path = tmp_path / "sources.yaml"
    path.write_text(ENTRY)
    assert sources.load_sources(path)["toy"].files[0].sha256 == SHA
    assert old in ENTRY
    path.write_text(ENTRY.replace(old, new))
    with pytest.raises(PrivarmsError, match=key) as caught:
        sources.load_sources(path)
    assert str(path) in str(caught.value)
