"""A key for some corpora has read what the operator laid ready for them, and nothing of others."""

import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.security.keyring import add_key
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of
from tests.fakes.ingesting import FakeIngester

pytestmark = pytest.mark.fault("E15")


class Place:
    """A service with the corpora `aaa` and `bbb`, and a root with a folder for each; `started` is that of --ingest."""

    def __init__(self, folder: Path) -> None:
        self.root, self.keys, self.ingester = folder / "root", folder / "keys.json", FakeIngester()
        for name in ("aaa", "bbb", "started", "elsewhere"):
            (self.root / name / "inner").mkdir(parents=True)
            (self.root / name / "inner" / f"{name}.md").write_text(name)
        (folder / "outside").mkdir()
        (folder / "outside" / "secret.md").write_text("secret")
        self.client: TestClient = client_of(
            *(FakeEngine(corpus=name) for name in ("aaa", "bbb")),
            ingester=self.ingester,
            ingested=self.root / "started",
            ingest={"root": self.root},
            index={"dir": folder},
            serve={"keys_file": self.keys},
        )

    def key(self, *corpora: str, root: Path | None = None) -> dict[str, str]:
        name = f"key {threading.get_ident()} {len(self.keys.read_bytes()) if self.keys.exists() else 0}"
        return {"Api-Key": add_key(self.keys, name, ["ingest"], corpora or None, None, root=root)}

    def ingest(self, key: dict[str, str], **body: Any) -> Any:
        return self.client.post("/ingest", json={"corpus": "aaa", "wait": True} | body, headers=key)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("extra", [{}, {"dry_run": True}, {"prune": True}, {"files": ["inner"]}], ids=str)
@pytest.mark.parametrize(
    "given",
    [
        *("bbb", "bbb/inner/bbb.md", "../bbb", "inner/../../bbb", "{root}/bbb", "{root}", "..", "/", "/etc", "nothing"),
        *("started", "{root}/started", "{root}/aaa/../bbb", "aaa/../bbb", "{root}/aaa-not", "{root}/nothing"),
        *("out", "out/secret.md", "{root}/aaa/out", "other", "aaa/other/inner", "up", "inner/bbb.md"),
    ],
)
def test_other_folders_are_refused_like_those_that_do_not_exist(
    place: Place, given: str, extra: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = place.root / "aaa"
    (mine / "out").symlink_to(place.root.parent / "outside")
    (mine / "other").symlink_to(place.root / "bbb")
    (mine / "up").symlink_to("..")
    monkeypatch.chdir(place.root)

    replies = [
        place.ingest(place.key("aaa"), path=path, **extra) for path in (given.format(root=place.root), "no/where")
    ]

    assert {(reply.status_code, reply.text) for reply in replies} == {(403, replies[1].text)}
    assert replies[0].json()["error"]["code"] == "ingest_refused"
    assert str(place.root) not in replies[0].text
    assert place.ingester.asked == []


@pytest.mark.parametrize("corpora", [("aaa",), ("aaa", "bbb")])
@pytest.mark.parametrize(
    ("given", "read"),
    [
        (".", "aaa"),
        ("inner", "aaa/inner"),
        ("inner/aaa.md", "aaa/inner/aaa.md"),
        ("aaa", "aaa"),
        ("aaa/inner", "aaa/inner"),
        ("{root}/aaa", "aaa"),
        ("link", "aaa/inner"),
    ],
)
def test_the_folder_of_the_corpus_s_name_is_read(place: Place, corpora: tuple[str, ...], given: str, read: str) -> None:
    (place.root / "aaa" / "link").symlink_to("inner")

    reply = place.ingest(place.key(*corpora), path=given.format(root=place.root))

    assert reply.status_code == 200
    assert [path for _, path, _ in place.ingester.asked] == [place.root / read]


def test_a_key_for_two_corpora_brings_nothing_of_the_one_into_the_other(place: Place) -> None:
    both = place.key("aaa", "bbb")

    assert place.ingest(both, path=f"{place.root}/bbb").status_code == 403
    assert place.ingest(both, path="inner", corpus="bbb").status_code == 200


@pytest.mark.parametrize("is_link", [False, True])
def test_where_the_folder_is_absent_or_a_link_nothing_is_read_or_named(place: Place, is_link: bool) -> None:
    (place.root / "aaa").rename(place.root / "moved")
    if is_link:
        (place.root / "aaa").symlink_to(place.root / "bbb")

    for path in (".", "aaa", "bbb", "inner/bbb.md"):
        reply = place.ingest(place.key("aaa"), path=path, dry_run=True)
        assert reply.status_code == 403
        assert "bbb" not in reply.text
    assert place.ingester.asked == []


@pytest.mark.parametrize("corpora", [("aaa",), ()])
def test_the_folder_that_a_key_names_takes_the_place_of_all_others(place: Place, corpora: tuple[str, ...]) -> None:
    key = place.key(*corpora, root=place.root / "elsewhere")

    statuses = [place.ingest(key, path=path).status_code for path in (".", "inner", "aaa", f"{place.root}/aaa")]

    assert statuses == [200, 200, 403, 403]
    assert [path for _, path, _ in place.ingester.asked] == [place.root / "elsewhere", place.root / "elsewhere/inner"]


def test_a_key_for_all_corpora_reads_what_it_did_before(place: Place) -> None:
    everybodys = place.key()

    for path in (".", "bbb", str(place.root / "started")):
        assert place.ingest(everybodys, path=path).status_code == 200
    assert place.ingest(everybodys, path="nothing").status_code == 404
    assert place.ingest(everybodys, retry=True).status_code == 200
    assert place.ingester.within is None


def test_the_folder_is_asked_for_again_when_the_job_begins(place: Place) -> None:
    key, place.ingester.held = place.key("aaa"), True
    place.ingest(key, path="inner", wait=False)
    assert place.ingester.began.wait(10)
    waiting = place.ingest(key, path="inner", wait=False).headers["location"]
    (place.root / "aaa" / "inner").rename(place.root / "aaa" / "moved")
    (place.root / "aaa" / "inner").symlink_to(place.root / "bbb")
    place.ingester.go.set()
    assert place.ingest(key, path="moved").status_code == 200

    assert place.client.get(waiting, headers=key).json()["error"]["code"] == "ingest_refused"
    assert place.root / "bbb" not in [path for _, path, _ in place.ingester.asked]


def test_a_retry_reads_the_files_of_the_folder_and_the_uploaded_ones_again(place: Place) -> None:
    uploaded = place.root.parent / ".uploads" / "aaa"

    assert place.ingest(place.key("aaa"), retry=True).status_code == 200
    assert list(place.ingester.within or ()) == [place.root / "aaa", uploaded]
    (place.root / "aaa").rename(place.root / "moved")
    assert place.ingest(place.key("aaa"), retry=True).status_code == 200
    assert list(place.ingester.within or ()) == [uploaded]


def test_uploads_need_no_folder(place: Place) -> None:
    (place.root / "aaa").rename(place.root / "moved")
    files = {"file": ("a.md", b"# A\n\nText.")}

    reply = place.client.post("/documents?corpus=aaa", files=files, headers=place.key("aaa"))

    assert reply.status_code == 202


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.fault("E17")
def test_jobs_of_other_corpora_are_unknown(place: Place, method: str) -> None:
    place.ingester.held = True
    foreign = place.ingest(place.key(), path="bbb", corpus="bbb", wait=False).headers["location"]
    mine = place.key("aaa")

    asked, unknown = (place.client.request(method, path, headers=mine) for path in (foreign, "/ingest/" + "0" * 32))

    assert (asked.status_code, asked.json()) == (unknown.status_code, unknown.json()) == (404, unknown.json())
    assert place.client.get("/ingest", headers=mine).json()["jobs"] == []
    job = place.client.get(foreign, headers=place.key("bbb")).json()
    assert (job["cancelling"], job["finished_at"]) == (False, None)
