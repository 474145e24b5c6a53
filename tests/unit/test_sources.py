"""Raw files: where they come from, over real HTTP on loopback, and what happens when they are not what they must be."""

import hashlib
import http.server
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from privarms.data import sources
from privarms.data.sources import Dataset, RawFile
from privarms.errors import PrivarmsError

CONTENT = b"a,b\n1,2\n" * 5000
SHA = hashlib.sha256(CONTENT).hexdigest()
ROOT = Path(__file__).parents[2]


class Handler(http.server.BaseHTTPRequestHandler):
    """/ok and /mirror/toy/a.csv are the file, /other another one, /cut breaks off, /slow waits, the rest is missing."""

    def do_GET(self):
        self.server.paths.append(self.path)
        if self.path == "/slow":
            self.server.release.wait(10)
        if self.path in ("/ok", "/mirror/toy/a.csv", "/other", "/cut", "/slow"):
            body = b"something else" if self.path == "/other" else CONTENT
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if self.path == "/cut" else body)
        else:
            self.send_error(404)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.paths, server.release = [], threading.Event()
        server.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join()


def toy(url=None, sha256=SHA, by_hand=None):
    if url is None and by_hand is None:
        by_hand = "Log in at example.org and download a.csv."
    file = RawFile("a.csv", sha256, url, by_hand, len(CONTENT))
    return Dataset("toy", "Toy", "CC0", "Nobody (2025)", (file,)), file


def files_below(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def mirror_with(folder, content=CONTENT):
    (folder / "toy").mkdir(parents=True)
    (folder / "toy" / "a.csv").write_bytes(content)
    return str(folder)


def test_a_file_of_the_mirror_is_copied_and_then_stays(tmp_path):
    dataset, file = toy()
    raw, mirror = tmp_path / "raw", mirror_with(tmp_path / "mirror")
    assert sources.locate(dataset, file, raw) is None
    assert sources.locate(dataset, file, raw, mirror) == str(tmp_path / "mirror" / "toy" / "a.csv")
    assert not raw.exists()
    path = sources.fetch(dataset, file, raw, mirror)
    assert path == raw / "toy" / "a.csv"
    assert path.read_bytes() == CONTENT
    assert files_below(raw) == ["toy/a.csv"]
    # Now neither the mirror nor the network is asked.
    assert sources.locate(dataset, file, raw, mirror) == str(path)
    assert sources.fetch_all(dataset, raw, mirror=None) == [path]
    assert sources.available(dataset, raw)


def test_a_download_succeeds(tmp_path, server):
    dataset, file = toy(server.address + "/ok")
    raw = tmp_path / "raw"
    assert sources.locate(dataset, file, raw) == file.url
    assert not raw.exists()
    assert sources.fetch(dataset, file, raw).read_bytes() == CONTENT
    assert files_below(raw) == ["toy/a.csv"]


def test_a_mirror_over_http_comes_before_the_address(tmp_path, server):
    dataset, file = toy(server.address + "/ok")
    mirror = server.address + "/mirror/"
    assert sources.locate(dataset, file, tmp_path / "raw", mirror) == server.address + "/mirror/toy/a.csv"
    sources.fetch(dataset, file, tmp_path / "raw", mirror)
    assert "/ok" not in server.paths


def test_a_mirror_without_the_file_is_passed_over(tmp_path, server):
    dataset, file = toy(server.address + "/ok")
    (tmp_path / "empty").mkdir()
    for number, mirror in enumerate((server.address + "/nothing", str(tmp_path / "empty"))):
        raw = tmp_path / f"raw{number}"
        assert sources.locate(dataset, file, raw, mirror) == file.url
        assert sources.fetch(dataset, file, raw, mirror).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("/missing", "the server answered 404 Not Found; try again, or put the file at"),
        ("/cut", "the connection broke off before the end of the file"),
        ("/other", f"expected SHA-256 {SHA} and 40,000 bytes, found [0-9a-f]{{64}} and 14 bytes"),
    ],
)
def test_a_download_that_fails_leaves_nothing(tmp_path, server, place, said):
    dataset, file = toy(server.address + place)
    with pytest.raises(PrivarmsError, match=said) as caught:
        sources.fetch(dataset, file, tmp_path / "raw")
    assert file.url in str(caught.value)
    assert str(tmp_path / "raw" / "toy" / "a.csv") in str(caught.value)
    assert files_below(tmp_path) == []


def test_no_server_is_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        dataset, file = toy(f"http://127.0.0.1:{free.getsockname()[1]}/ok")
    assert sources.locate(dataset, file, tmp_path / "raw") is None
    assert not sources.available(dataset, tmp_path / "raw")
    with pytest.raises(PrivarmsError, match="no connection"):
        sources.fetch(dataset, file, tmp_path / "raw")
    assert files_below(tmp_path) == []


def test_a_missing_file_on_the_server_is_not_available(tmp_path, server):
    dataset, file = toy(server.address + "/missing")
    assert sources.locate(dataset, file, tmp_path / "raw") is None


def test_a_probe_gives_up_in_time(tmp_path, server, monkeypatch):
    monkeypatch.setattr(sources, "PROBE_SECONDS", 0.2)
    dataset, file = toy(server.address + "/slow")
    start = time.monotonic()
    assert sources.locate(dataset, file, tmp_path / "raw") is None
    assert time.monotonic() - start < 5
    assert server.paths == ["/slow"]


def test_a_probe_gives_up_on_a_name_that_is_not_resolved(tmp_path, monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(sources, "PROBE_SECONDS", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: release.wait(10) and [])
    dataset, file = toy("http://never.resolved/a.csv")
    start = time.monotonic()
    try:
        assert sources.locate(dataset, file, tmp_path / "raw") is None
        assert time.monotonic() - start < 5
    finally:
        release.set()


def test_a_file_that_was_changed_is_found(tmp_path):
    dataset, file = toy()
    raw = tmp_path / "raw"
    path = sources.fetch(dataset, file, raw, mirror_with(tmp_path / "mirror"))
    path.write_bytes(CONTENT.replace(b"1", b"2", 1))
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    for check in (lambda: sources.verify(file, path), lambda: sources.fetch(dataset, file, raw)):
        with pytest.raises(PrivarmsError, match="damaged or was changed") as caught:
            check()
        assert all(part in str(caught.value) for part in (str(path), SHA, found, "delete it and run again"))
    # A user's file is not ours to delete.
    assert path.exists()


def test_a_mirror_with_another_file_is_refused(tmp_path):
    dataset, file = toy()
    mirror = mirror_with(tmp_path / "mirror", CONTENT[:-1])
    with pytest.raises(PrivarmsError, match=r"and 40,000 bytes, found [0-9a-f]{64} and 39,999 bytes") as caught:
        sources.fetch(dataset, file, tmp_path / "raw", mirror)
    assert mirror in str(caught.value)
    assert files_below(tmp_path / "raw") == []


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    dataset, file = toy()
    (tmp_path / "mirror" / "toy" / "a.csv").mkdir(parents=True)
    with pytest.raises(PrivarmsError, match="cannot be read"):
        sources.fetch(dataset, file, tmp_path / "raw", str(tmp_path / "mirror"))
    assert files_below(tmp_path) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    dataset, file = toy()
    mirror = mirror_with(tmp_path / "mirror")
    (tmp_path / "raw").write_text("a file where the folder should be")
    with pytest.raises(PrivarmsError, match="cannot be written") as caught:
        sources.fetch(dataset, file, tmp_path / "raw", mirror)
    assert str(tmp_path / "raw" / "toy" / "a.csv") in str(caught.value)


def test_a_read_only_folder_is_named(tmp_path, server):
    dataset, file = toy(server.address + "/ok")
    raw = tmp_path / "raw"
    (raw / "toy").mkdir(parents=True)
    (raw / "toy").chmod(0o500)
    try:
        if os.access(raw / "toy", os.W_OK):
            pytest.skip("this user may write to read-only folders")
        with pytest.raises(PrivarmsError, match="cannot be written"):
            sources.fetch(dataset, file, raw)
    finally:
        (raw / "toy").chmod(0o700)
    assert files_below(tmp_path) == []


def test_the_missing_message_says_all(tmp_path):
    by_hand, file = toy()
    with pytest.raises(PrivarmsError) as caught:
        sources.fetch(by_hand, file, tmp_path)
    assert str(caught.value) == sources.missing_message(by_hand, tmp_path)
    for part in (str(tmp_path / "toy" / "a.csv"), file.by_hand, SHA, sources.MIRROR_VARIABLE):
        assert part in str(caught.value)
    from_web, file = toy("https://example.org/a.csv")
    assert file.url in sources.missing_message(from_web)
    assert "data/raw/toy/a.csv" in sources.missing_message(from_web)


def test_the_mirror_in_force(tmp_path, monkeypatch):
    monkeypatch.delenv(sources.MIRROR_VARIABLE, raising=False)
    assert sources.choose_mirror() is None
    assert sources.choose_mirror("https://example.org/m") == "https://example.org/m"
    monkeypatch.setenv(sources.MIRROR_VARIABLE, str(tmp_path))
    assert sources.choose_mirror() == str(tmp_path)
    assert sources.choose_mirror("http://example.org") == "http://example.org"
    monkeypatch.setenv(sources.MIRROR_VARIABLE, "")
    assert sources.choose_mirror("") is None
    with pytest.raises(PrivarmsError, match=f"mirror: {tmp_path}/nowhere is neither a folder nor"):
        sources.choose_mirror(f"{tmp_path}/nowhere")


def test_the_list_of_sources_holds():
    datasets = sources.load_sources(ROOT / "data" / "sources.yaml")
    assert [f.name for f in datasets["adult"].files] == ["adult.data", "adult.test"]
    assert all(f.url.startswith("https://archive.ics.uci.edu/") for f in datasets["adult"].files)


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
        ("  citation: Nobody\n", "", "citation"),
        ("      url:", "      uri:", "uri"),
        (f"      sha256: {SHA}\n", "", "sha256"),
        (SHA, SHA[:-1], "sha256"),
        (SHA, SHA.replace("a", "A"), "sha256"),
        ("name: a.csv", "name: ../a.csv", "name"),
        ("url: https", "url: ftp", "url"),
        ("      url: https://example.org/a.csv\n", "", "files"),
        ("      url:", "      by_hand: ask\n      url:", "files"),
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
