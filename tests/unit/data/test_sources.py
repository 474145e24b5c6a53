"""Raw files: where they come from, over real HTTP on loopback, and what happens when they are not what they must be."""

import hashlib
import http.server
import os
import socket
import threading
import time
import urllib.parse
from pathlib import Path

import pytest

from privarms.data import sources
from privarms.data import taxi as taxi_module
from privarms.errors import PrivarmsError

CONTENT = b"a,b\n1,2\n" * 5000
SHA = hashlib.sha256(CONTENT).hexdigest()
ROOT = Path(__file__).parents[3]


class Handler(http.server.BaseHTTPRequestHandler):
    """/ok, /mirror/toy/a.csv and addresses with a query are the file; /other is another one, /slow waits, /busy is
    503 and /odd 416.

    /cut always breaks off half-way. The others break off once and then give the rest of the file if asked for it:
    /ranges says which version it has, /weak does so only nearly, /plain does not, /new has another file at first,
    /deaf knows no ranges, /wrong sends other bytes than those that were asked for, /short breaks off twice.
    """

    def do_GET(self):
        paths = self.server.paths
        paths.append(self.path)
        self.server.asked.append(self.headers.get("Range"))
        if self.path == "/slow":
            self.server.release.wait(10)
        if self.path in ("/endless", "/drip"):
            return self.send_without_end()
        if self.path in ("/busy", "/odd"):
            return self.send_error({"/busy": 503, "/odd": 416}[self.path])
        if self.path not in ("/ok", "/mirror/toy/a.csv", "/other", "/slow", *BREAKING) and "?" not in self.path:
            return self.send_error(404)
        body, start = CONTENT, 0
        if self.path == "/other":
            body = b"something else"
        version = {"/new": f'"{paths.count(self.path)}"', "/weak": 'W/"1"'}.get(self.path, '"1"')
        if self.path == "/new" and paths.count(self.path) == 1:
            body = CONTENT.upper()
        unchanged = self.headers.get("If-Range", version) == version
        if self.headers.get("Range") and self.path in RESUMING and unchanged:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        if start >= len(body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(body)}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if self.path == "/wrong" and start:
            start -= 1
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if self.path in ("/ranges", "/new", "/short", "/weak"):
            self.send_header("ETag", version)
        body = body[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        times = {"/cut": 99, "/short": 2}.get(self.path, 1)
        broken = self.path in BREAKING and paths.count(self.path) <= times
        self.wfile.write(body[: len(body) // 2] if broken else body)

    def send_without_end(self):
        """As fast as it goes, or a byte at a time."""
        self.send_response(200)
        self.end_headers()
        piece = b"x" * 2**16 if self.path == "/endless" else b"x"
        try:
            while not self.server.release.wait(0 if self.path == "/endless" else 0.02):
                self.wfile.write(piece)
                self.server.sent += len(piece)
        except OSError:
            pass

    def log_message(self, *arguments):
        pass


RESUMING = ("/ranges", "/weak", "/plain", "/new", "/wrong", "/short")
BREAKING = ("/cut", "/deaf", *RESUMING)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.paths, server.asked, server.release, server.sent = [], [], threading.Event(), 0
        server.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join()


def toy(url=None, sha256=SHA, **keys):
    """A dataset of one file, by hand without an address; `keys` are those of the file, or of the entry."""
    place = {"url": url} if url else {"by_hand": "Log in at example.org and download a.csv."}
    of_file = {k: keys.pop(k) for k in ("rows", "probe", "bytes") if k in keys}
    file = {"name": "a.csv", "sha256": sha256, **({"bytes": len(CONTENT)} if sha256 else {}), **place, **of_file}
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
    assert sources.locate(dataset, file, raw) is None
    assert sources.locate(dataset, file, raw, mirror) == str(tmp_path / "mirror" / "toy" / "a.csv")
    assert not raw.exists()
    path = sources.fetch(dataset, file, raw, mirror)
    assert path == raw / "toy" / "a.csv"
    assert path.read_bytes() == CONTENT
    assert files_below(raw) == ["toy/a.csv"]
    # Now neither the mirror nor the network is asked.
    assert sources.locate(dataset, file, raw, mirror) == str(path)
    assert sources.fetch(dataset, file, raw, mirror=None) == path
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
        ("/odd", "the server answered 416 Requested Range Not Satisfiable"),
        ("/busy", "the server answered 503 Service Unavailable; try again, or put the file at"),
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


def kept(size):
    """How much of so many bytes is kept when the connection then breaks off."""
    return size // sources.PIECE * sources.PIECE


HALF = kept(len(CONTENT) // 2)


def hidden(raw):
    return raw / "toy" / ".a.csv.part"


def test_a_connection_that_breaks_off_leaves_no_file_but_what_came_beside_it(tmp_path, server):
    dataset, file = toy(server.address + "/cut")
    raw = tmp_path / "raw"
    with pytest.raises(PrivarmsError, match="the connection broke off before the end of the file") as caught:
        sources.fetch(dataset, file, raw)
    assert file.url in str(caught.value)
    assert str(raw / "toy" / "a.csv") in str(caught.value)
    assert files_below(raw) == ["toy/.a.csv.part", "toy/.a.csv.part.json"]
    assert hidden(raw).read_bytes() == CONTENT[:HALF]
    # It is not taken for the file.
    assert not sources.raw_path(dataset, file, raw).exists()
    assert sources.locate(dataset, file._replace(url=None), raw) is None


@pytest.mark.parametrize("place", ["/ranges", "/plain"])
def test_a_download_is_taken_up_where_it_broke_off(tmp_path, server, place):
    dataset, file = toy(server.address + place)
    raw = tmp_path / "raw"
    assert sources.fetch(dataset, file, raw).read_bytes() == CONTENT
    assert server.asked == [None, f"bytes={HALF}-"]
    assert files_below(raw) == ["toy/a.csv"]


def test_a_download_is_taken_up_by_a_later_run(tmp_path, server, monkeypatch):
    dataset, file = toy(server.address + "/ranges")
    raw = tmp_path / "raw"
    monkeypatch.setattr(sources, "ATTEMPTS", 1)
    with pytest.raises(PrivarmsError, match="broke off"):
        sources.fetch(dataset, file, raw)
    assert sources.fetch(dataset, file, raw).read_bytes() == CONTENT
    assert server.asked == [None, f"bytes={HALF}-"]
    assert files_below(raw) == ["toy/a.csv"]


def test_a_download_is_taken_up_twice_but_not_for_ever(tmp_path, server, monkeypatch):
    dataset, file = toy(server.address + "/short")
    raw = tmp_path / "raw"
    assert sources.fetch(dataset, file, raw).read_bytes() == CONTENT
    more = HALF + kept((len(CONTENT) - HALF) // 2)
    assert server.asked == [None, f"bytes={HALF}-", f"bytes={more}-"]
    sources.raw_path(dataset, file, raw).unlink()
    server.paths.clear()
    monkeypatch.setattr(sources, "ATTEMPTS", 2)
    with pytest.raises(PrivarmsError, match="broke off"):
        sources.fetch(dataset, file, raw)
    assert len(server.paths) == 2


@pytest.mark.parametrize("place", ["/new", "/deaf", "/wrong"])
def test_a_download_that_cannot_be_taken_up_begins_anew(tmp_path, server, place):
    dataset, file = toy(server.address + place)
    raw = tmp_path / "raw"
    assert sources.fetch(dataset, file, raw).read_bytes() == CONTENT
    assert server.asked[:2] == [None, f"bytes={HALF}-"]
    assert files_below(raw) == ["toy/a.csv"]


def test_without_a_checksum_only_a_marked_version_is_taken_up(tmp_path, server):
    for place, taken_up in (("/plain", False), ("/weak", False), ("/ranges", True)):
        dataset, file = toy(server.address + place, sha256=None)
        server.asked.clear()
        raw = tmp_path / place[1:]
        assert sources.fetch(dataset, file, raw).read_bytes() == CONTENT
        assert [bool(r) for r in server.asked] == [False, taken_up]


def test_a_file_that_was_changed_in_between_is_not_pieced_together(tmp_path, server):
    dataset, file = toy(server.address + "/new", sha256=None)
    assert sources.fetch(dataset, file, tmp_path / "raw").read_bytes() == CONTENT
    assert server.asked == [None, f"bytes={HALF}-"]


def test_a_part_of_something_else_is_not_gone_on_with(tmp_path, server):
    dataset, file = toy(server.address + "/ok")
    raw = tmp_path / "raw"
    hidden(raw).parent.mkdir(parents=True)
    # Left by another address, and by nobody knows whom.
    for origin in ('{"address": "http://example.org/a.csv", "version": null}', "not JSON", "[1]", None):
        hidden(raw).write_bytes(b"x" * 100)
        if origin:
            hidden(raw).with_name(".a.csv.part.json").write_text(origin)
        assert sources.fetch(dataset, file, raw).read_bytes() == CONTENT
        assert server.asked.pop() is None
        assert files_below(raw) == ["toy/a.csv"]
        sources.raw_path(dataset, file, raw).unlink()


def test_a_part_that_went_wrong_is_found_by_the_checksum(tmp_path, server):
    dataset, file = toy(server.address + "/plain")
    server.paths.append("/plain")  # does not break off any more
    raw = tmp_path / "raw"
    hidden(raw).parent.mkdir(parents=True)
    hidden(raw).with_name(".a.csv.part.json").write_text(f'{{"address": "{file.url}", "version": null}}')
    # Other bytes than the file begins with; all of them; more of them than it has.
    for left in (b"x" * 100, CONTENT, CONTENT + b"x"):
        hidden(raw).write_bytes(left)
        assert sources.fetch(dataset, file, raw).read_bytes() == CONTENT
        assert server.asked[-2:] == [f"bytes={len(left)}-", None]
        assert files_below(raw) == ["toy/a.csv"]
        sources.raw_path(dataset, file, raw).unlink()
        hidden(raw).with_name(".a.csv.part.json").write_text(f'{{"address": "{file.url}", "version": null}}')


def test_a_server_that_is_busy_does_not_cost_what_is_there(tmp_path, server):
    dataset, file = toy(server.address + "/busy")
    raw = tmp_path / "raw"
    hidden(raw).parent.mkdir(parents=True)
    hidden(raw).write_bytes(CONTENT[:100])
    hidden(raw).with_name(".a.csv.part.json").write_text(f'{{"address": "{file.url}", "version": null}}')
    with pytest.raises(PrivarmsError, match="503"):
        sources.fetch(dataset, file, raw)
    assert server.asked == ["bytes=100-"]
    assert hidden(raw).read_bytes() == CONTENT[:100]


@pytest.mark.parametrize("known", [True, False])
def test_an_endless_answer_is_cut_off_and_not_kept(tmp_path, server, monkeypatch, known):
    monkeypatch.setattr(sources, "MOST_BYTES", 100_000)
    dataset, file = toy(server.address + "/endless", sha256=SHA if known else None)
    said = "longer than the 40,000 bytes that a.csv has" if known else "longer than 100,000 bytes, the most"
    with pytest.raises(PrivarmsError, match=said) as caught:
        sources.fetch(dataset, file, tmp_path / "raw")
    assert file.url in str(caught.value)
    assert str(tmp_path / "raw" / "toy" / "a.csv") in str(caught.value)
    assert files_below(tmp_path) == []
    assert server.paths == ["/endless"], "it is not asked for again"


def test_an_answer_that_is_just_as_long_as_it_may_be_is_taken(tmp_path, server, monkeypatch):
    monkeypatch.setattr(sources, "MOST_BYTES", len(CONTENT))
    dataset, file = toy(server.address + "/ok", sha256=None)
    assert sources.fetch(dataset, file, tmp_path / "raw").read_bytes() == CONTENT


def test_what_is_left_of_a_broken_download_counts_for_its_length(tmp_path, server):
    dataset, file = toy(server.address + "/plain", bytes=len(CONTENT) - 1)
    with pytest.raises(PrivarmsError, match="longer than the 39,999 bytes"):
        sources.fetch(dataset, file, tmp_path / "raw")
    assert server.asked == [None, f"bytes={HALF}-"]
    assert files_below(tmp_path) == []


def test_a_download_that_never_ends_is_given_up_and_taken_up_later(tmp_path, server, monkeypatch):
    monkeypatch.setattr(sources, "DOWNLOAD_SECONDS", 0.5)
    monkeypatch.setattr(sources, "PIECE", 1)
    dataset, file = toy(server.address + "/drip")
    begin = time.monotonic()
    with pytest.raises(PrivarmsError, match=r"bytes after 0.0083 minutes, and not the end .*run again to go on"):
        sources.fetch(dataset, file, tmp_path / "raw")
    assert time.monotonic() - begin < 5
    left = hidden(tmp_path / "raw").stat().st_size
    assert 0 < left < 200
    assert not (tmp_path / "raw" / "toy" / "a.csv").exists()
    # Nothing is written behind the caller's back.
    time.sleep(0.2)
    assert hidden(tmp_path / "raw").stat().st_size == left
    # A piece that does not get full in time, and a server that does not even begin.
    for place, piece in (("/drip", 2**20), ("/slow", 1)):
        monkeypatch.setattr(sources, "PIECE", piece)
        begin = time.monotonic()
        with pytest.raises(PrivarmsError, match="and not the end of the file"):
            sources.fetch(*toy(server.address + place), tmp_path / "raw")
        assert time.monotonic() - begin < 5


def test_a_file_of_another_length_is_refused_where_no_checksum_is_known(tmp_path, server):
    dataset, file = toy(server.address + "/ok", sha256=None, bytes=len(CONTENT) + 1)
    with pytest.raises(PrivarmsError, match="expected 40,001 bytes, found 40,000"):
        sources.fetch(dataset, file, tmp_path / "raw")


def test_all_addresses_are_asked_at_once_and_only_for_what_is_not_here(tmp_path, server, monkeypatch):
    monkeypatch.setattr(sources, "PROBE_SECONDS", 2)
    mirror = server.address + "/slow"
    slow = server.address + "/slow"
    datasets = [toy(slow, folder=f"f{i}")[0] for i in range(8)]
    here = toy(server.address + "/here")[0]
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.csv").write_bytes(CONTENT)
    begin = time.monotonic()
    answers = sources.ask([*datasets, here], tmp_path, mirror)
    assert time.monotonic() - begin < 9
    assert answers == {
        slow: "did not answer within 2 s",
        **{f"{slow}/f{i}/a.csv": "answered 404 Not Found" for i in range(8)},
    }
    assert "/here" not in server.paths
    assert sources.available(here, tmp_path, mirror, answers)
    asked = len(server.paths)
    assert not sources.available(datasets[0], tmp_path, mirror, answers)
    said = sources.missing_message(datasets[0], tmp_path, mirror, answers)
    assert said.endswith(f"Looked for: {slow}/f0/a.csv answered 404 Not Found; {slow} did not answer within 2 s.")
    assert len(server.paths) == asked
    assert sources.ask([here], tmp_path, mirror) == {}


def test_a_mirror_that_was_named_is_not_asked_for_again(tmp_path, server):
    dataset, file = toy()
    (tmp_path / "mirror").mkdir()
    for mirror, answer in (
        (server.address, f"{server.address}/toy/a.csv answered 404 Not Found"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9/toy/a.csv cannot be reached (ConnectionError)"),
        (str(tmp_path / "mirror"), f"{tmp_path}/mirror/toy/a.csv is not there"),
    ):
        with pytest.raises(PrivarmsError) as caught:
            sources.fetch(dataset, file, tmp_path / "raw", mirror)
        assert str(caught.value).endswith(f"Looked for: {answer}.")
        assert "name a mirror" not in str(caught.value)


def test_a_query_arrives_as_it_is_written(tmp_path, server):
    taxi = sources.load_sources(ROOT / "data" / "sources.yaml")["taxi"]
    (file,) = taxi.files
    path = file.url.split("data.cityofchicago.org")[1]
    file = file._replace(url=server.address + path)
    assert sources.fetch(taxi, file, tmp_path / "raw").read_bytes() == CONTENT
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(server.paths[-1]).query)
    assert sorted(query) == ["$limit", "$order", "$select", "$where"]
    assert query["$select"] == [",".join(taxi_module.COLUMNS)]
    assert query["$where"] == [
        "trip_start_timestamp>='2022-05-01T00:00:00' AND trip_start_timestamp<'2022-07-01T00:00:00'"
    ]
    assert urllib.parse.parse_qs(urllib.parse.urlsplit(file.probe).query) == {
        "$select": ["trip_seconds"],
        "$limit": ["1"],
    }


def test_a_slow_address_is_probed_at_another(tmp_path, server, monkeypatch):
    monkeypatch.setattr(sources, "PROBE_SECONDS", 0.3)
    dataset, file = toy(server.address + "/slow", probe=server.address + "/ok")
    assert sources.locate(dataset, file, tmp_path / "raw") == file.url
    assert server.paths == ["/ok"]
    dataset, file = toy(server.address + "/ok", probe=server.address + "/missing")
    assert sources.locate(dataset, file, tmp_path / "raw") is None


def test_variants_of_a_dataset_share_a_folder(tmp_path):
    dataset, file = toy(folder="elsewhere")
    (tmp_path / "mirror" / "elsewhere").mkdir(parents=True)
    (tmp_path / "mirror" / "elsewhere" / "a.csv").write_bytes(CONTENT)
    assert sources.fetch(dataset, file, tmp_path / "raw", str(tmp_path / "mirror")) == tmp_path / "raw/elsewhere/a.csv"
    assert "data/raw/elsewhere/a.csv" in sources.missing_message(dataset)


def test_a_file_without_a_checksum_is_taken_as_it_is(tmp_path):
    dataset, file = toy(sha256=None)
    mirror = mirror_with(tmp_path / "mirror", b"anything")
    path = sources.fetch(dataset, file, tmp_path / "raw", mirror)
    assert path.read_bytes() == b"anything"
    assert sources.verify(file, path) == hashlib.sha256(b"anything").hexdigest()
    assert "has no fixed SHA-256" in sources.missing_message(dataset)
    assert "5,000 rows" in sources.missing_message(toy(sha256=None, rows=5000)[0])


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
    assert set(datasets) == {
        *("adult", "adultmarital", "adultone", "adultcopies", "adultall", "jobs", "taxi", "taxisample")
    }
    assert {d.folder for d in datasets.values()} == {"adult", "jobs", "taxi"}
    assert [f"data.{d.module}" for d in datasets.values()] == [m for d in datasets.values() for m in d.modules]
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
        (SHA, SHA[:-1], "sha256"),
        (SHA, SHA.replace("a", "A"), "sha256"),
        ("name: a.csv", "name: ../a.csv", "name"),
        ("url: https", "url: ftp", "url"),
        ("      url: https://example.org/a.csv\n", "", "files"),
        ("      url:", "      by_hand: ask\n      url:", "files"),
        ("toy:", "my_toy:", "my_toy"),
        ("  files:", "  module: Toy\n  files:", "module"),
        ("  files:", "  options: {reduction: 3}\n  files:", "options.reduction"),
        ("  files:", "  at_most: {targets: 3}\n  files:", "at_most.targets"),
        ("  files:", "  at_most: {target: 0}\n  files:", "at_most.target"),
        ("  files:", "  table: {source: {column: a, target: b}}\n  files:", "table.*label"),
        ("  files:", "  table: {label: a, source: b}\n  files:", "table.source"),
        ("  files:", "  table: {label: a, source: {column: b}}\n  files:", "table.source.*target"),
        ("  files:", "  table: {label: a, leaveout: [b]}\n  files:", "table.leaveout"),
        ("  files:", "  table: {label: a, delimiter: x}\n  files:", "table.delimiter"),
        ("  files:", "  table: {label: a}\n  module: adult\n  files:", "toy"),
        ("  files:\n    - name: a.csv", "  table: {label: a}\n  files:\n    - name: a.xlsx", "name"),
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
