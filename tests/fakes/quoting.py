"""An engine that quotes from a few texts, over real stores and without a model."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Done
from settings import Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import a_leaf_reader


@contextmanager
def quoting_engine(folder: Path, texts: Mapping[str, str]) -> Iterator[Engine]:
    """Yield an engine over these texts, by document id, in a corpus in `folder`."""
    corpus = make_corpus(folder, dict(texts), WordHashEmbedding())
    reader = a_leaf_reader(corpus)
    yield Engine(corpus, WordHashEmbedding(), reader, (), settings=Settings())
    corpus.close()


async def answered(engine: Engine, question: str) -> Done:
    """Return the end of an answer."""
    done = [event async for event in engine.stream(Inquiry(question))][-1]
    assert isinstance(done, Done)
    return done
