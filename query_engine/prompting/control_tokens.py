"""Keep a language model from taking documents or questions for its own control tokens.

Flow: document text, questions -> **here** -> `builder.py` and the prompts of `reranking/` and `expansion/`.
"""

import re
from collections.abc import Iterable

# Control tokens of common chat templates, for servers whose tokenizer is unknown, and the borders of our documents.
_COMMON = (
    r"<\|[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|</?s>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|"
    r"\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]|<(?:bos|eos|pad|unk)>|</?think>|</?DOC\b"
)


class ControlTokens:
    """The tokens that one model obeys.

    Args:
        own: the model's special tokens, if its tokenizer is known.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        escaped = [re.escape(token) for token in own if len(token) > 1]
        # Looks ahead, so that tokens that overlap or hold one another are all found.
        self._tokens = re.compile(rf"(?={'|'.join([*escaped, _COMMON])})(.)", re.IGNORECASE | re.DOTALL)

    def defuse(self, text: str) -> str:
        """Break every control token after its first character, so that the tokenizer sees plain text."""
        return self._tokens.sub(r"\1 ", text)
