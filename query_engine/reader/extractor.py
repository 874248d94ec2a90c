"""Read with another model than the shipped one: an extractive question answering model of transformers.

Flow: `query_engine/build.py` -> **here** -> a `PassageReader` for `reading.py`. Models that were trained on SQuAD 2
give each token a score to begin and one to end the answer, and put both on the first token where there is none
(Devlin et al. 2019, section 4.3). Only safetensors are read: other weight files can carry code.

Devlin et al., "BERT", arXiv:1810.04805.
"""

import math
import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from tokenizers import Encoding
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

from errors import ModelError, first_line
from query_engine.reader.foreign import NO_WORD
from query_engine.reader.model import MAX_TOKENS, PassageText, Scores, encode, unit_tokens

SETTING = "RAG_ANSWER__READER"
# Log-odds stay within what the shipped reader gives: surer ones would outweigh all other measures.
MOST = -NO_WORD
INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}


class SpanExtractor:
    """Scores units by how likely the model's answer lies in them. Safe to call from many threads; they take turns.

    Args:
        model: a local folder, or a hub id whose files are in the hub cache or can be fetched.

    Raises:
        ModelError: there is no such model, it is damaged, or does not extract answers.
    """

    def __init__(self, model: str) -> None:
        try:
            tokenizer = AutoTokenizer.from_pretrained(model)
            network, found = AutoModelForQuestionAnswering.from_pretrained(
                model, use_safetensors=True, output_loading_info=True
            )
        except (OSError, ValueError, RuntimeError, KeyError, ImportError, SafetensorError) as error:
            raise _refused(model, f"cannot be loaded: {first_line(error)}") from error
        if found["missing_keys"]:
            raise _refused(model, "has no trained weights that extract answers")
        if not tokenizer.is_fast:
            raise _refused(model, "has no fast tokenizer, which tells where tokens stand")
        self._tokenizer = tokenizer.backend_tokenizer
        window = min(tokenizer.model_max_length, network.config.max_position_embeddings, MAX_TOKENS)
        self._tokenizer.enable_truncation(window, strategy="longest_first")
        self._tokenizer.enable_padding(pad_id=tokenizer.pad_token_id, pad_token=tokenizer.pad_token)
        self._inputs = {name: of for name, of in INPUTS.items() if name in tokenizer.model_input_names}
        self._network = network.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        self._lock = threading.Lock()

    def read(self, question: str, passages: Sequence[PassageText]) -> list[Scores]:
        """Return the scores of each passage, in order.

        Raises:
            ModelError: the model failed, for example out of memory.
        """
        if not passages:
            return []
        with self._lock:
            encodings = encode(self._tokenizer, question, passages)
            arrays = {name: torch.tensor([getattr(one, of) for one in encodings]) for name, of in self._inputs.items()}
            try:
                with torch.inference_mode():
                    found = self._network(**{name: one.to(self._network.device) for name, one in arrays.items()})
                logits = torch.stack((found.start_logits, found.end_logits), dim=1).double().cpu().numpy()
            except RuntimeError as error:  # torch raises it for any cause
                raise ModelError(f"The reader failed: {first_line(error)}.", f"Use another {SETTING}.") from error
        return [_scores(*one) for one in zip(passages, encodings, logits, strict=True)]


def _scores(passage: PassageText, encoding: Encoding, logits: npt.NDArray[np.float64]) -> Scores:
    """Return a passage's scores from its logits, shape (2, tokens): of a first and of a last token."""
    # An answer lies in the passage, or on the first token: there is none.
    possible = [place == 0 or sequence == 1 for place, sequence in enumerate(encoding.sequence_ids)]
    powers = np.where(possible, np.exp(logits - logits[:, possible].max(axis=1, keepdims=True)), 0.0)
    begins, ends = powers / powers.sum(axis=1, keepdims=True)
    units = [
        _log_odds(float(ends[places] @ np.cumsum(begins[places]))) if places else -math.inf
        for places in unit_tokens(passage, encoding)
    ]
    return Scores(_log_odds(1 - float(begins[0] * ends[0])), tuple(units))


def _log_odds(probability: float) -> float:
    least = 1 / (1 + math.exp(MOST))
    inside = min(max(probability, least), 1 - least)
    return math.log(inside / (1 - inside))


def _refused(model: str, why: str) -> ModelError:
    return ModelError(
        f"The reader {model!r} {why}.",
        f"Set {SETTING} to a question answering model of transformers, trained on SQuAD 2: a folder or a hub id.",
    )
