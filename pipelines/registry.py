"""The available steps: the project's, and those of a folder.

Flow: `build.py` -> **here** -> `body.py` looks steps up by id, `GET /pipeline/info` lists them.

A folder offers every class in its `*.py` files; it is code that runs in the service, so only the settings can name it.
"""

import importlib.util
import inspect
import logging
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from errors import SettingsError
from pipelines.step import Step
from pipelines.steps.cleaning import PunctuationRemoval, StopwordRemoval, TextStemmer
from pipelines.steps.content import ContentExtractor
from pipelines.steps.corpus_source import CorpusSource
from pipelines.steps.emotion import EmotionStep
from pipelines.steps.filtering import LabelFilter, MetadataFilter, Reduction
from pipelines.steps.foreign_sources import ChromaSource, ClueWebSource, FineWebSource, MeiliSource, MosaicSource
from pipelines.steps.geo_box import GeoBox
from pipelines.steps.language_model_reranking import GroupReranker, TournamentReranker
from pipelines.steps.lemmatizing import TextLemmatizer
from pipelines.steps.lexical_reranking import TfIdfReranker
from pipelines.steps.metadata import LanguageStep, RelevanceMarking, WordCounter
from pipelines.steps.model_reranking import CrossEncoderReranker, EmbeddingReranker
from pipelines.steps.summaries import DocumentSummarizer, ResultsSummarizer

BUILT_IN: tuple[type[Step], ...] = (
    CorpusSource,
    MosaicSource,
    ChromaSource,
    MeiliSource,
    ClueWebSource,
    FineWebSource,
    ContentExtractor,
    LanguageStep,
    StopwordRemoval,
    PunctuationRemoval,
    TextStemmer,
    TextLemmatizer,
    Reduction,
    LabelFilter,
    MetadataFilter,
    GeoBox,
    EmbeddingReranker,
    CrossEncoderReranker,
    TfIdfReranker,
    TournamentReranker,
    GroupReranker,
    WordCounter,
    EmotionStep,
    RelevanceMarking,
    DocumentSummarizer,
    ResultsSummarizer,
)

logger = logging.getLogger(__name__)


class Registry:
    """Steps by id.

    Args:
        steps: classes; of two with one id the later one is refused.

    Raises:
        SettingsError: two classes have one id, or one lacks part of its declaration.
    """

    def __init__(self, steps: Iterable[type[Step]] = BUILT_IN) -> None:
        self._steps: dict[str, type[Step]] = {}
        for step in steps:
            for name in ("id", "name", "category", "description"):
                if not getattr(step, name, None):
                    raise SettingsError(f"The step {step.__name__} has no {name}.", f"Set `{name}` in its class.")
            if step.id in self._steps:
                raise SettingsError(f"Two steps are called {step.id!r}.", "Give one of them another id.")
            self._steps[step.id] = step

    def ids(self) -> list[str]:
        """Return the ids of all steps."""
        return list(self._steps)

    def get(self, step_id: str) -> type[Step] | None:
        """Return a step's class; None if there is none of this id."""
        return self._steps.get(step_id)

    def info(self) -> dict[str, dict[str, Any]]:
        """Return the declaration of every step, by id, JSON-ready."""
        return {step_id: step.get_info() for step_id, step in self._steps.items()}


def all_steps(folder: Path | None) -> Registry:
    """Return the steps of the project and of a folder; None names no folder.

    Raises:
        SettingsError: the folder does not exist, a file of it cannot be imported, or two steps have one id.
    """
    return Registry([*BUILT_IN, *(_from_folder(folder) if folder else ())])


def _from_folder(folder: Path) -> Iterator[type[Step]]:
    if not folder.is_dir():
        raise SettingsError(f"There is no folder {folder}.", "RAG_PIPELINES__STEPS_DIR must name one with *.py files.")
    for path in sorted(folder.glob("*.py")):
        name = f"treeline_steps_{sha256(str(path).encode()).hexdigest()[:8]}_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None, "a file that ends in .py has a loader"
        assert spec.loader is not None, "a file that ends in .py has a loader"
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise SettingsError(
                f"The steps in {path} cannot be loaded: {type(error).__name__}: {error}.", "Mend the file."
            ) from error
        found = [one for one in vars(module).values() if inspect.isclass(one) and one.__module__ == name]
        steps = [one for one in found if issubclass(one, Step) and not inspect.isabstract(one) and hasattr(one, "id")]
        logger.info("Steps from %s: %s", path, ", ".join(step.id for step in steps) or "none")
        yield from steps
