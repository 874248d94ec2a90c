"""Any sequence of edits, ingestions and deletions leaves stores that agree with each other and with the folder."""

import json
import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from index.documents.span_tree import split_node_id
from tests.fakes.library import Library
from tests.fakes.words import leaves_with

NAMES = st.sampled_from(["a.txt", "b.md", "sub/c.txt", "sub/d.md", "e.jsonl", "f.jsonl"])


class Edits(RuleBasedStateMachine):
    """A folder of at most six files, a corpus, and a model of what the corpus should hold after each ingestion."""

    def __init__(self) -> None:
        super().__init__()
        self.library: Library | None = None

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.library = Library(self.folder)
        self.number = 0
        self.on_disk: dict[str, dict[str, str]] = {}  # file -> doc_id -> the word it can be found by
        self.stored: dict[str, tuple[str, str]] = {}  # doc_id -> the file it belongs to, its word

    def teardown(self) -> None:
        if self.library:
            self.library.close()
            shutil.rmtree(self.folder)

    @rule(name=NAMES, records=st.integers(1, 3))
    def write(self, name: str, records: int) -> None:
        assert self.library
        self.number += 1
        path = self.library.files / name
        path.parent.mkdir(exist_ok=True)
        if name.endswith("jsonl"):
            words = {f"{name[0]}{record}": f"canary{self.number}n{record}" for record in range(records)}
            rows = ({"id": doc_id, "text": f"Here is {word}."} for doc_id, word in words.items())
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            words = {name: f"canary{self.number}"}
            path.write_text(f"Here is canary{self.number}.\n")
        self.on_disk[name] = words

    @precondition(lambda self: self.on_disk)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        assert self.library
        name = data.draw(st.sampled_from(sorted(self.on_disk)))
        (self.library.files / name).unlink()
        del self.on_disk[name]

    @precondition(lambda self: self.on_disk)
    @rule(data=st.data(), to=NAMES)
    def rename(self, data: st.DataObject, to: str) -> None:
        assert self.library
        name = data.draw(st.sampled_from(sorted(self.on_disk)))
        if to in self.on_disk or Path(to).suffix != Path(name).suffix:
            return
        (self.library.files / to).parent.mkdir(exist_ok=True)
        (self.library.files / name).rename(self.library.files / to)
        words = self.on_disk.pop(name)
        self.on_disk[to] = words if name.endswith("jsonl") else {to: words[name]}

    @rule(prune=st.booleans(), team=st.sampled_from(["", "red", "blue"]))
    def ingest(self, prune: bool, team: str) -> None:
        assert self.library
        prune = prune and bool(self.on_disk)  # pruning an empty folder is refused
        metadata = {"team": team} if team else {}
        # Twice: a record whose id another file still holds while it is compared is taken over by the second run.
        for _ in range(2):
            self.library.ingest(metadata=metadata, prune=prune)
        gone = {} if prune else {doc_id: held for doc_id, held in self.stored.items() if held[0] not in self.on_disk}
        self.stored = gone | {
            doc_id: (owner, self.on_disk[owner][doc_id])
            for doc_id in {doc_id for words in self.on_disk.values() for doc_id in words}
            for owner in [self._owner(doc_id)]
        }
        self.library.ingest(metadata=metadata)
        assert self.library.embedder.texts_embedded == 0

    @precondition(lambda self: self.stored)
    @rule(data=st.data())
    def delete_documents(self, data: st.DataObject) -> None:
        assert self.library
        doc_id = data.draw(st.sampled_from(sorted(self.stored)))
        self.library.corpus.delete([doc_id])
        del self.stored[doc_id]

    def _owner(self, doc_id: str) -> str:
        """Return the file that an id on the disk belongs to: it stays with its file, and goes to the first one else."""
        holders = sorted(name for name, words in self.on_disk.items() if doc_id in words)
        owner, _ = self.stored.get(doc_id, ("", ""))
        return owner if owner in holders else holders[0]

    @invariant()
    def the_stores_agree(self) -> None:
        if self.library:
            self.library.check_stores_agree()
            versions = set(self.library.corpus.documents.versions().values())
            ids = self.library.corpus.vectors.raw.get(include=[])["ids"]
            assert {split_node_id(name)[0] for name in ids} == versions

    @invariant()
    def what_is_stored_is_found_and_nothing_else(self) -> None:
        if not self.library:
            return
        corpus = self.library.corpus
        words = {doc_id: word for doc_id, (_, word) in self.stored.items()}
        assert set(corpus.documents.versions()) == set(words)
        # A renamed file's document and the one of its old name have the same text.
        for number in range(1, self.number + 1):
            for word in (f"canary{number}", *(f"canary{number}n{record}" for record in range(3))):
                names = [name for name, _ in leaves_with(corpus.lexical_index, word, 10)]
                shown = {node.metadata["doc_id"] for node in corpus.docstore.nodes(names).values()}
                assert shown == {doc_id for doc_id, its in words.items() if its == word}, word
