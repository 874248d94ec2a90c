"""A corpus is saved as one file and comes back equal; a file that is no such backup changes nothing."""

import errno
import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from errors import CorpusError, CorpusLockedError, IndexDamagedError, StorageError, UnknownCorpusError
from index.corpus import corpus_names
from index.folder_stores import open_folder
from index.layout.lock import CorpusLock
from index.maintenance.archive import LIST_NAME, Contents, list_files, pack
from index.maintenance.backup import backup, restore
from settings import IndexSettings, Settings
from tests.failing import failing
from tests.fakes.corpora import MANIFEST, make_corpus
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.fakes.words import leaves_with

NOUNS = "wind water solar coal gas wood tide wave heat steam oil peat biogas uranium hydrogen battery".split()
TEXTS = {
    f"{noun}.md": f"Power from {noun} is number {number}. People like {noun} in winter. It costs {number * 7} euros."
    for number, noun in enumerate(NOUNS)
}
QUERIES = [f"How much does {noun} cost?" for noun in NOUNS] + ["winter", "people", "power from wind", "euros"]

Files = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(index=IndexSettings(dir=tmp_path / "index"))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpus `books` in `index`, and its backup."""
    folder = tmp_path_factory.mktemp("original")
    make_corpus(folder / "index" / "books", TEXTS, WordHashEmbedding()).close()
    backup("books", Settings(index=IndexSettings(dir=folder / "index")), folder / "books.tar.gz")
    return folder


@pytest.fixture
def saved(original: Path, tmp_path: Path) -> Path:
    """A backup of corpus `books`, which is there still."""
    shutil.copytree(original, tmp_path, dirs_exist_ok=True)
    return tmp_path / "books.tar.gz"


def content(settings: Settings, name: str) -> dict[str, Any]:
    """All that can be asked of a corpus."""
    with closing(open_folder(settings.index.dir / name, MANIFEST)) as corpus:
        return {
            "state": corpus.documents.state(),
            "documents": [
                (
                    document.doc_id,
                    document.title,
                    document.text,
                    document.version,
                    [*map(document.tree.__getitem__, range(len(document.tree)))],
                )
                for document in corpus.documents.each()
            ],
            "dense": [corpus.vectors.search(word_vector(query), 5) for query in QUERIES],
            "words": [leaves_with(corpus.lexical_index, query, 5) for query in QUERIES],
        }


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@contextmanager
def refused(folder: Path, kind: type[Exception], message: str) -> Iterator[None]:
    """Check that what is done within is refused, and leaves the folder as it is."""
    before = tree(folder)
    with pytest.raises(kind, match=message):
        yield
    assert tree(folder) == before


@pytest.mark.fault("A10")
def test_a_corpus_comes_back_equal_elsewhere_under_another_name(
    saved: Path, settings: Settings, tmp_path: Path
) -> None:
    elsewhere = Settings(index=IndexSettings(dir=tmp_path / "elsewhere" / "index"))

    facts = restore(saved, elsewhere, "again")

    assert (facts.documents, facts.leaves) == (len(TEXTS), 3 * len(TEXTS))
    assert content(elsewhere, "again") == content(settings, "books")
    assert tree(elsewhere.index.dir)[:1] == ["again"]
    assert not list(elsewhere.index.dir.glob(".*"))


def test_a_restored_corpus_can_be_changed(saved: Path, settings: Settings) -> None:
    restore(saved, settings, "again")

    with closing(open_folder(settings.index.dir / "again", MANIFEST)) as corpus:
        corpus.delete(["wind.md"])
        assert (
            corpus.documents.leaf_count()
            == corpus.vectors.count()
            == corpus.lexical_index.count()
            == 3 * (len(TEXTS) - 1)
        )
    assert len(content(settings, "books")["documents"]) == len(TEXTS)


@pytest.mark.usefixtures("saved")
def test_equal_files_give_equal_bytes(settings: Settings) -> None:
    folder = settings.index.dir / "books"
    contents = Contents(
        corpus="books", version="1", documents=1, leaves=1, state="", members=list_files(folder, without="lock")
    )
    archives = [io.BytesIO(), io.BytesIO()]
    for archive in archives:
        pack(folder, contents, archive)
        (folder / "manifest.json").touch()

    assert archives[0].getvalue() == archives[1].getvalue()


def test_a_file_whose_name_no_archive_takes_is_told(saved: Path, settings: Settings) -> None:
    (settings.index.dir / "books" / ("x" * 101)).touch()

    with refused(saved.parent, CorpusError, "too long"):
        backup("books", settings, saved.with_name("second.tar.gz"))


def test_a_backup_appears_when_it_is_whole(saved: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("index.maintenance.backup.pack", refuse_to_write)
    with refused(saved.parent, StorageError, "No space left"):
        backup("books", settings, saved.with_name("second.tar.gz"))


def refuse_to_write(_folder: Path, _contents: Contents, file: IO[bytes]) -> None:
    file.write(b"half")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_list_comes_first_and_names_every_file(saved: Path) -> None:
    with tarfile.open(saved) as tar:
        names = tar.getnames()
        listed = json.load(tar.extractfile(LIST_NAME) or io.BytesIO())

    assert names == [LIST_NAME, *(member["name"] for member in listed["members"])]
    assert names[1:] == sorted(names[1:], key=lambda name: name.split("/"))
    assert "lock" not in names
    assert (listed["corpus"], listed["documents"]) == ("books", len(TEXTS))


def test_what_is_in_use_is_not_saved(settings: Settings, tmp_path: Path) -> None:
    with (
        closing(make_corpus(settings.index.dir / "books", {}, WordHashEmbedding())),
        pytest.raises(CorpusLockedError, match="in use"),
    ):
        backup("books", settings, tmp_path / "books.tar.gz")

    assert [path.name for path in tmp_path.iterdir()] == ["index"]


@pytest.mark.usefixtures("saved")
def test_what_is_damaged_is_not_saved(settings: Settings, tmp_path: Path) -> None:
    with closing(open_folder(settings.index.dir / "books", MANIFEST)) as corpus:
        corpus.lexical_index.delete(list(corpus.documents.versions().values())[:1])

    with pytest.raises(IndexDamagedError, match="45 words"):
        backup("books", settings, tmp_path / "second.tar.gz")


def test_a_backup_goes_neither_over_a_file_nor_nowhere_nor_into_the_corpus_itself(
    saved: Path, settings: Settings
) -> None:
    before = saved.read_bytes()

    with failing("bad_backup", match="exists"):
        backup("books", settings, saved)
    assert saved.read_bytes() == before
    with failing("bad_backup", match="no folder"):
        backup("books", settings, saved.parent / "missing" / "file.tar.gz")
    with failing("bad_backup", match="inside the corpus"):
        backup("books", settings, settings.index.dir / "books" / "file.tar.gz")
    with pytest.raises(UnknownCorpusError, match="bookz"):
        backup("bookz", settings, saved.parent / "file.tar.gz")


@pytest.mark.usefixtures("saved")
def test_a_link_in_a_corpus_is_told_rather_than_left_out(settings: Settings, tmp_path: Path) -> None:
    words = settings.index.dir / "books" / "words"
    words.rename(tmp_path / "words")
    words.symlink_to(tmp_path / "words")

    with failing("bad_backup", match="neither a file nor a folder"):
        backup("books", settings, tmp_path / "second.tar.gz")


def test_a_corpus_of_that_name_stays_as_it_is(saved: Path, settings: Settings) -> None:
    with refused(settings.index.dir, CorpusError, "already"):
        restore(saved, settings, "books")


def test_a_corpus_of_that_name_is_replaced_on_demand(saved: Path, settings: Settings) -> None:
    saved_content = content(settings, "books")
    with closing(open_folder(settings.index.dir / "books", MANIFEST)) as corpus:
        corpus.delete(["wind.md", "water.md"])

    restore(saved, settings, "books", replace=True)

    assert content(settings, "books") == saved_content
    assert corpus_names(settings.index.dir) == ["books"]
    assert not list(settings.index.dir.glob(".*"))


def test_a_damaged_corpus_can_be_replaced(saved: Path, settings: Settings) -> None:
    (settings.index.dir / "books" / "manifest.json").write_text("{")

    restore(saved, settings, "books", replace=True)

    assert len(content(settings, "books")["documents"]) == len(TEXTS)


def test_a_corpus_in_use_is_not_replaced(saved: Path, settings: Settings) -> None:
    lock = CorpusLock(settings.index.dir / "books")
    try:
        with refused(settings.index.dir, CorpusLockedError, "in use"):
            restore(saved, settings, "books", replace=True)
    finally:
        lock.release()


@pytest.mark.fault("A10")
def test_what_a_killed_restoring_left_is_cleared_away(saved: Path, settings: Settings) -> None:
    remains = settings.index.dir / ".again.restore" / "again"
    remains.mkdir(parents=True)
    (remains / "manifest.json").write_text("half")

    restore(saved, settings, "again")

    assert content(settings, "again") == content(settings, "books")
    assert not remains.exists()


def read(archive: Path) -> Files:
    with tarfile.open(archive) as tar:
        return [(header, (tar.extractfile(header) or io.BytesIO()).read()) for header in tar]


def write(archive: Path, files: Files) -> None:
    with tarfile.open(archive, "w:gz") as tar:
        for header, data in files:
            tar.addfile(header, io.BytesIO(data))


def plain(name: str, data: bytes) -> tuple[tarfile.TarInfo, bytes]:
    header = tarfile.TarInfo(name)
    header.size = len(data)
    return header, data


def special(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    header = tarfile.TarInfo(name)
    header.type, header.linkname = kind, target
    return header, b""


def listing(files: Files, change: Callable[[dict[str, Any]], object]) -> Files:
    """Change the list of the archive, and nothing else."""
    listed = json.loads(files[0][1])
    change(listed)
    return [plain(LIST_NAME, json.dumps(listed).encode()), *files[1:]]


def with_file(files: Files, name: str, data: bytes = b"evil") -> Files:
    """Add a file that the list names, with the right size and hash."""
    member = {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return [*listing(files, lambda listed: listed["members"].append(member)), plain(name, data)]


def with_special(files: Files, kind: bytes, target: str = "") -> Files:
    return [*with_file(files, "words/extra", b"")[:-1], special("words/extra", kind, target)]


def with_zeros_in_the_first(files: Files) -> Files:
    return [files[0], plain(files[1][0].name, bytes(len(files[1][1]))), *files[2:]]


def declaring(files: Files, size: int) -> Files:
    return listing(files, lambda listed: listed["members"][0].update(bytes=size))


def without_manifest(files: Files) -> Files:
    kept = [file for file in files if file[0].name != "manifest.json"]
    return listing(
        kept, lambda listed: listed.update(members=[m for m in listed["members"] if m["name"] != "manifest.json"])
    )


HOSTILE: dict[str, tuple[Callable[[Files], Files], str]] = {
    "a name above the folder": (lambda files: with_file(files, "../x"), "not a file below the folder"),
    "a name above it in the middle": (lambda files: with_file(files, "words/../../x"), "not a file below the folder"),
    "an absolute name": (lambda files: with_file(files, "/tmp/x"), "not a file below the folder"),
    "a name above, not in the list": (lambda files: [*files, plain("../x", b"evil")], "not in its list"),
    "a symbolic link": (lambda files: with_special(files, tarfile.SYMTYPE, "/etc/passwd"), "not a plain file"),
    "a hard link": (lambda files: with_special(files, tarfile.LNKTYPE, "manifest.json"), "not a plain file"),
    "a device": (lambda files: with_special(files, tarfile.CHRTYPE), "not a plain file"),
    "a pipe": (lambda files: with_special(files, tarfile.FIFOTYPE), "not a plain file"),
    "a folder": (lambda files: with_special(files, tarfile.DIRTYPE), "not a plain file"),
    "a longer name by an extended header": (lambda files: with_file(files, "x" * 300), "not a plain file"),
    "other content": (with_zeros_in_the_first, "hash differs"),
    "a file less": (lambda files: files[:-1], "in its list, but not in it"),
    "a file more": (lambda files: [*files, plain("words/extra", b"x")], "not in its list"),
    "a file twice": (lambda files: [*files, files[1]], "not in its list, or twice"),
    "a second list": (lambda files: [*files, files[0]], "not in its list, or twice"),
    "a file that is a folder": (lambda files: with_file(files, "manifest.json/x"), "as a file and as a folder"),
    "a lock": (lambda files: with_file(files, "lock"), "a lock"),
    "another size": (lambda files: declaring(files, 7), "its list says 7"),
    "more than it can hold": (lambda files: declaring(files, 10_000_000_000), "more than a corpus can shrink"),
    "a negative size": (lambda files: declaring(files, -1), "members.0.bytes"),
    "no list": (lambda files: files[1:], "does not begin with"),
    "a list that is none": (lambda files: [plain(LIST_NAME, b"[]"), *files[1:]], "list is not valid"),
    "another format": (
        lambda files: listing(files, lambda listed: listed.update(format=2)),
        "list is not valid, format",
    ),
    "other documents": (lambda files: listing(files, lambda listed: listed.update(documents=9)), "not those"),
    "no manifest": (without_manifest, "cannot be opened"),
    "nothing": (lambda _files: [], "damaged or no backup|does not begin with"),
}


@pytest.mark.fault("A10")
@pytest.mark.parametrize("case", HOSTILE)
def test_an_archive_that_is_not_what_it_says_changes_nothing(case: str, saved: Path, settings: Settings) -> None:
    change, message = HOSTILE[case]
    write(saved, change(read(saved)))

    with refused(saved.parent, CorpusError, message):
        restore(saved, settings, "again")
    with refused(saved.parent, CorpusError, message):
        restore(saved, settings, "books", replace=True)


def a_truncated_file(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes()[: saved.stat().st_size // 2])


def a_text(saved: Path) -> None:
    saved.write_text("Dear backup, please restore.")


def a_bomb(saved: Path) -> None:
    """A megabyte that would become 1 GB: its one header says so, and more than its list does."""
    header = tarfile.TarInfo("manifest.json")
    header.size = 1_000_000_000
    member = {"name": "manifest.json", "bytes": 1, "sha256": "0" * 64}
    first, listed = read(saved)[0]
    listed = json.dumps(json.loads(listed) | {"members": [member]}).encode()
    first.size = len(listed)
    zeros = gzip.compress(bytes(10_000_000), 1)
    with saved.open("wb") as file:
        beginning = first.tobuf() + listed + bytes(-len(listed) % 512) + header.tobuf()
        file.write(gzip.compress(beginning))
        for _ in range(100):
            file.write(zeros)


def a_list_without_end(saved: Path) -> None:
    header = tarfile.TarInfo(LIST_NAME)
    header.size = 10_000_000_000
    saved.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + bytes(1_000_000)))


@pytest.mark.fault("A10")
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (a_truncated_file, "damaged or no backup"),
        (a_text, "damaged or no backup"),
        (a_bomb, "has 1,000,000,000 bytes, its list says 1"),
        (a_list_without_end, "its list has 10,000,000,000 bytes"),
        (Path.unlink, "cannot be opened"),
    ],
)
def test_a_file_that_is_no_whole_archive_changes_nothing(
    spoil: Callable[[Path], None], message: str, saved: Path, settings: Settings
) -> None:
    spoil(saved)

    with refused(saved.parent, CorpusError, message):
        restore(saved, settings, "again")


@pytest.mark.fault("A10")
def test_a_corpus_that_does_not_fit_on_the_disk_is_not_unpacked(
    saved: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("index.maintenance.archive.FLOOR_BYTES", 10**18)
    with refused(saved.parent, StorageError, "must remain"):
        restore(saved, settings, "again")


@pytest.mark.parametrize(
    "server", [{"chroma_url": "http://127.0.0.1:1"}, {"database_url": "postgresql://somebody@127.0.0.1/books"}]
)
def test_stores_on_servers_are_left_to_the_servers_tools(
    server: dict[str, str], saved: Path, settings: Settings
) -> None:
    remote = Settings(index=IndexSettings.model_validate({"dir": settings.index.dir, **server}))

    with failing("bad_backup", match="pg_dump"):
        backup("books", remote, saved.with_name("second.tar.gz"))
    with failing("bad_backup", match="pg_dump"):
        restore(saved, remote, "again")
