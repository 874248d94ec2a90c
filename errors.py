"""Every foreseen failure is a `RagError`: a fact, a remedy and a stable code.

A class of its own is for what some code catches or asks for by itself; what clients alone tell apart is a code:
`RagError(fact, remedy, "unknown_task")`. Anything else that escapes is a bug of ours. Two edges translate failures and
nothing else does: `api/errors.py` to HTTP status codes, `run_command` below to exit codes.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

# A path of two names or more. A name may hold up to four spaces: a word with a slash follows.
_PATH = re.compile(
    r"(?<![\w.-])/([\w.-]+)/[^\s'\"`,;:()<>|]+"
    r"(?:(?: [^\s'\"`,;:()<>|/]+){0,3} [^\s'\"`,;:()<>|/]+/[^\s'\"`,;:()<>|]*)*"
)
_KEPT_TEXTS = 256

logger = logging.getLogger(__name__)


@lru_cache(_KEPT_TEXTS)
def without_paths(text: str) -> str:
    """Return a text for clients: of each absolute path of this machine only the last name is left, as `…/vectors`.

    Such a path begins with a folder that exists, so that the address of a route stays. The log gets the whole text,
    but not each time.
    """
    shown = _PATH.sub(_last_name, text)
    if shown != text:
        logger.warning("Clients are told this without its paths: %s", text)
    return shown


def _last_name(match: re.Match[str]) -> str:
    path = match[0].rstrip("./")
    if match[1] not in _roots():
        return match[0]
    return f"…/{path.rpartition('/')[2]}{match[0][len(path) :]}"


@lru_cache(1)
def _roots() -> frozenset[str]:
    return frozenset(os.listdir("/"))  # not looked at one by one: one may hang


class RagError(Exception):
    """Something we foresaw.

    `str(error)` states the fact, then the remedy. Clients match on `code`, which never changes; the wording
    may. Both parts live in `args`, so the error survives pickling between processes.
    """

    code: str = "rag_error"

    def __init__(self, fact: str, remedy: str, code: str | None = None) -> None:
        """Args: `code` tells the ways to fail apart within a class; None takes the class's own."""
        super().__init__(fact, remedy)
        self.code = code or self.code

    @property
    def fact(self) -> str:
        """What happened, as one sentence."""
        return str(self.args[0])

    @property
    def remedy(self) -> str:
        """What the reader can do about it, as one sentence."""
        return str(self.args[1])

    @property
    def public(self) -> str:
        """Fact and remedy as clients may read them, see `without_paths`."""
        return without_paths(str(self))

    def __str__(self) -> str:
        return f"{self.fact} {self.remedy}"


class SettingsError(RagError):
    """A setting is unknown, malformed or contradicts another."""

    code = "bad_setting"


class CorpusError(RagError):
    """Something is wrong with a corpus as a whole.

    Attributes:
        store: the store that failed, `documents`, `vectors` or `words`; None if it is not known to be one of them.
    """

    code = "corpus_error"
    store: str | None = None

    @classmethod
    def read_only(cls, name: str) -> "CorpusError":
        """Name the corpus that shall not be written here: another process writes."""
        return cls(
            f"This process only reads: it cannot write into corpus {name!r}.",
            "Ask the service that runs with RAG_SERVE__ROLE=writer.",
            "read_only",
        )


class UnknownCorpusError(CorpusError):
    """The named corpus does not exist."""

    code = "unknown_corpus"

    @classmethod
    def of(cls, name: str, known: list[str]) -> "UnknownCorpusError":
        """Name the missing corpus and those that exist."""
        there = f"Known corpora: {', '.join(known)}." if known else "No corpus exists yet."
        return cls(
            f"There is no corpus {name!r}.", f"{there} Make one with `python -m ingestion PATH --corpus {name}`."
        )


class CorpusLockedError(CorpusError):
    """Another process holds the corpus; `url` is set when that process is a service."""

    code = "corpus_locked"

    def __init__(self, fact: str, remedy: str, url: str | None = None) -> None:
        super().__init__(fact, remedy)
        self.url = url


class IndexMismatchError(CorpusError):
    """The index on disk was built with other settings than the program runs with."""

    code = "index_mismatch"

    @classmethod
    def of(cls, field: str, *, stored: object, wanted: object, corpus: str, variable: str) -> "IndexMismatchError":
        """Name the differing field, both values and the two ways out."""
        return cls(
            f"The index of corpus {corpus!r} was built with {field}={stored!r}; the settings say {wanted!r}.",
            f"Set {variable} back, or bring the corpus to it, without its files: "
            f"`python -m ingestion reembed --corpus {corpus}`.",
        )


class IndexDamagedError(CorpusError):
    """A store of the corpus cannot be opened, or contradicts the others."""

    code = "index_damaged"


class StorageError(CorpusError):
    """A store cannot be written: the disk is full, or refuses. Nothing that was committed is lost."""

    code = "storage_full"


class StoreUnavailableError(CorpusError):
    """A store on a server does not answer, or not in time. It works again as soon as the server does."""

    code = "store_unavailable"


class TooManyCorporaError(CorpusError):
    """So many corpora are in use that no other one can be opened: the process may open no more files."""

    code = "too_many_corpora"


class UnreadableError(RagError):
    """A file or record yields no document. Ingestion reports it and goes on with the rest.

    Attributes:
        doc_id: the document of the file that is lost, with all below it; None if that is not known.
    """

    code = "unreadable"

    def __init__(self, fact: str, remedy: str, doc_id: str | None = None) -> None:
        super().__init__(fact, remedy)
        self.doc_id = doc_id


class ModelError(RagError):
    """A model is missing, damaged or cannot be loaded, or its server refuses or answers with something else."""

    code = "model_unavailable"


class ModelServerError(ModelError):
    """The server of an embedding model or a reranker does not answer, or not in time. Trying again later may help."""

    code = "model_server_unavailable"


class ClusterError(RagError):
    """The Ray cluster cannot be reached, or its workers die over their work."""

    code = "cluster_failed"


class LLMError(RagError):
    """A language model failed before or while it wrote an answer; `code` tells the ways apart, see `docs/models.md`."""

    code = "llm_failed"

    @classmethod
    def unforeseen(cls, who: str) -> "LLMError":
        """Say who failed by a bug, which the log tells; `who` begins the sentence."""
        return cls(
            f"{who} failed in an unforeseen way.",
            "The service's log says what happened; please report it.",
            code="llm_unforeseen",
        )


class SourceError(RagError):
    """A source failed to return pages; `code` tells the ways apart, see `docs/formats.md`."""

    code = "source_failed"


class OutOfTimeError(RagError):
    """A question, or a stage of its retrieval that can be left out, reached its time limit."""

    code = "out_of_time"


class QuestionError(RagError):
    """A question cannot be asked as it stands."""

    code = "bad_question"


class PageUnavailableError(RagError):
    """A page of a document cannot be shown as it looks; its text can."""

    code = "page_unavailable"


class IngestRefusedError(RagError):
    """A client may not have this path ingested, or any."""

    code = "ingest_refused"


class UploadError(RagError):
    """A file of an upload is refused; or, when none is taken, the whole upload, and nothing of it is kept."""

    code = "bad_upload"


class UnknownPathError(RagError):
    """There is nothing at the path that shall be ingested."""

    code = "unknown_path"


class TooManyRequestsError(RagError):
    """A key has sent as many requests as it may for now.

    Attributes:
        wait_s: seconds until it may send the next one, at least 1.
    """

    code = "too_many_requests"

    def __init__(self, fact: str, remedy: str, wait_s: int = 1) -> None:
        super().__init__(fact, remedy)
        self.args = (fact, remedy, wait_s)
        self.wait_s = wait_s


class UnknownAnswerError(RagError):
    """The answer, retrieval or part of one that is judged was never given, or is kept no longer."""

    code = "unknown_answer"


class HostRefusedError(RagError):
    """A request names a host, or comes from a web page, that the settings do not allow."""

    code = "host_refused"


class PipelineError(RagError):
    """A pipeline of steps cannot be run as it stands; the fact names the step."""

    code = "bad_pipeline"


class StepError(RagError):
    """A step of a pipeline failed."""

    code = "step_failed"


class TaskCancelledError(RagError):
    """A task was cancelled while a step of it ran."""

    code = "task_cancelled"


class TasksUnavailableError(RagError):
    """Tasks cannot be read or kept: another service holds their file, or the disk refuses."""

    code = "tasks_unavailable"


class FilterError(RagError):
    """A filter of documents is empty, or says something that has no meaning."""

    code = "bad_filter"


INSTALL_TORCH = "Run `pip install torch -c constraints.txt`, or build the image with KEEP_TORCH=true."
"""The remedy where PyTorch is missing."""


def run_command(command: Callable[[], int], *, json_lines: bool = False) -> int:
    """Run the body of a command-line program and translate its failures to exit codes.

    Args:
        command: returns its own exit code.
        json_lines: stderr is for a program: a foreseen error is a JSON object.

    Returns:
        What `command` returns; 1 after a foreseen error, which is one line on stderr; 130 after Ctrl-C.
    """
    try:
        return command()
    except RagError as error:
        sys.stderr.write(error_line(error, as_json=json_lines))
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


def error_line(error: RagError, *, as_json: bool) -> str:
    """Return the line that tells an error on stderr, as text or as a JSON object whose `event` is `error`."""
    if as_json:
        return json.dumps({"event": "error", "code": error.code, "fact": error.fact, "remedy": error.remedy}) + "\n"
    return f"error[{error.code}]: {error}\n"


def first_line(error: Exception) -> str:
    """Return what a library's error says, without the lines that name its own source files."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith(("Check ", "Exception "))]
    return (lines or [type(error).__name__])[0].strip().rstrip(".")[:200]


@contextmanager
def packages_for(work: str, remedy: str) -> Iterator[None]:
    """Import in the `with` block what only some settings or commands need.

    Args:
        work: what needs the packages, as the beginning of a sentence.
        remedy: how to install them.

    Raises:
        ModelError: a package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModelError(f"{work} needs {error.name}, which is not installed.", remedy) from error
