"""Find out whether the stores of a corpus are sound and agree with each other.

Flow: `python -m ingestion doctor` -> **here** -> `health/check.py`. What can be mended is mended by
`ingestion/maintenance/repair.py`.
"""

from errors import RagError
from index.build import Embedding, servers_of
from index.health.check import SAMPLE, Check, Diagnosis, examine
from index.health.seal import VectorsSeal
from index.layout.lock import CorpusLock
from index.layout.manifest import Manifest
from index.maintenance.corpora import corpus_folder
from settings import Settings

__all__ = ["Diagnosis", "check_model_server", "diagnose"]


def diagnose(name: str, settings: Settings, *, full: bool = False) -> Diagnosis:
    """Examine a corpus that nobody else has open.

    Args:
        name: of the corpus.
        settings: where it is; what it was embedded with does not matter.
        full: look up every leaf by its own vector, rather than up to 1,000 of them.

    Raises:
        SettingsError: `name` cannot name a corpus.
        UnknownCorpusError: there is no such corpus.
        CorpusLockedError: another process holds it.
        StorageError: the disk is full, or refuses.
        StoreUnavailableError: a store on a server does not answer.
    """
    folder = corpus_folder(name, settings)
    with CorpusLock(folder):
        servers = servers_of(settings)
        diagnosis = examine(folder, servers, None if full else SAMPLE)
        if diagnosis.healthy and not servers.chroma_url:
            VectorsSeal(folder, folder / "vectors").write()  # the next opening need not look again
        return diagnosis


def check_model_server(name: str, settings: Settings) -> Check | None:
    """Ask the embedding server of the settings whether it is there, takes the key, and runs the corpus's model.

    Args:
        name: of a corpus that exists; it is not opened.
        settings: name the server.

    Returns:
        None where the settings name a local model.

    Raises:
        SettingsError: the settings of the model contradict each other.
    """
    if settings.embed.base_url is None:
        return None
    question = f"The server {settings.embed.base_url} runs the model that made the corpus."
    embedding = Embedding(settings)
    try:
        Manifest.read(settings.index.dir / name).check(embedding.opening_manifest(), name)
    except RagError as error:
        return Check("model", question, ok=False, finding=str(error))
    finally:
        embedding.close()
    return Check("model", question, ok=True)
