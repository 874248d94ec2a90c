"""Keep a language model from taking documents or questions for its own control tokens.

Flow: document text, questions -> **here** -> `builder.py` and the prompts of `reranking/` and `expansion.py`.

Exact tokens are broken and nothing else: code and placeholders in documents (`<package>`, `[a-z]+`, `<b>`) stay.
"""

import re
from collections.abc import Iterable

# For servers whose tokenizer is unknown: the tokens of each family beside those in the common form, see `_FORMS`. Left
# out are names of data that steer no chat and that people write as placeholders: `<filename>`, `<repo_name>`.
FAMILIES = {
    "Qwen": "<think> </think> <tool_call> </tool_call> <tool_response> </tool_response>",
    "Llama 2": "<s> </s> <unk> [INST] [/INST] <<SYS>> <</SYS>>",
    "Mistral": "<s> </s> <unk> <pad> [INST] [/INST] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [AVAILABLE_TOOLS] "
    "[/AVAILABLE_TOOLS] [TOOL_CALLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CONTENT] [ARGS] [CALL_ID] [THINK] [/THINK] "
    "[MODEL_SETTINGS] [/MODEL_SETTINGS] [IMG] [IMG_BREAK] [IMG_END] [AUDIO] [BEGIN_AUDIO] [TRANSCRIBE] "
    "[PREFIX] [MIDDLE] [SUFFIX]",
    "Gemma": "<bos> <eos> <pad> <unk> <mask> <start_of_turn> <end_of_turn> <start_of_image> <end_of_image> "
    "<image_soft_token> <start_of_audio> <end_of_audio> <audio_soft_token> <start_function_declaration> "
    "<end_function_declaration> <start_function_call> <end_function_call> <start_function_response> "
    "<end_function_response> <escape> <|turn> <turn|> <|channel> <channel|> <|tool> <tool|> <|tool_call> <tool_call|> "
    '<|tool_response> <tool_response|> <|image> <image|> <|audio> <audio|> <|"|>',
    "DeepSeek": "<think> </think> <image> ｜DSML｜",
    "Command R": "<BOS_TOKEN> <EOS_TOKEN> <EOP_TOKEN> <PAD> <UNK> <CLS> <SEP> <MASK_TOKEN>",
    "Granite, SmolLM, StarCoder": "<fim_prefix> <fim_middle> <fim_suffix> <fim_pad> <file_sep> <gh_stars> "
    "<issue_start> <issue_comment> <issue_closed> <jupyter_start> <jupyter_text> <jupyter_code> <jupyter_output> "
    "<jupyter_script> <empty_output> <commit_before> <commit_msg> <commit_after> <tool_call> </tool_call>",
    "GLM": "[gMASK] [sMASK] [MASK] <sop> <eop> <think> </think> <tool_call> </tool_call> <arg_key> </arg_key> "
    "<arg_value> </arg_value>",
    "EXAONE": "[BOS] [|system|] [|user|] [|assistant|] [|tool|] [|endofturn|]",
    "Seed": "<seed:bos> <seed:eos> <seed:pad> <seed:think> </seed:think> <seed:tool_call> </seed:tool_call>",
    "MiniMax": "]~b] ]~!b[ [e~[ <minimax:tool_call> </minimax:tool_call>",
    "Nemotron": "<extra_id_0> <extra_id_1> <SPECIAL_10> <SPECIAL_11> <SPECIAL_12>",
    "Baichuan": "<reserved_106> <reserved_107>",
}
# What stands behind a `<`: the form that ChatML, Llama 3 and 4, Phi, gpt-oss, Granite, GLM, Command R and most others
# give their tokens, `<|im_start|>`, which means nothing else; DeepSeek's, with wide bars; and our documents' borders.
_FORMS = (r"\|[\w▁/.:-]{1,40}\|>", r"｜[\w▁/.:-]{1,40}｜>", r"/?(?i:DOC)\b")


class ControlTokens:
    """The tokens that one model obeys.

    Args:
        own: the model's special tokens, if its tokenizer is known.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        self._tokens = re.compile(_beginnings(own))

    def defuse(self, text: str) -> str:
        """Break every control token after its first character, so that the tokenizer sees plain text."""
        return self._tokens.sub(r"\g<0> ", text)


def _beginnings(own: Iterable[str]) -> str:
    """Return the pattern of the first characters of tokens.

    It looks ahead from there, so that tokens that overlap or hold one another are all found.
    """
    behind = {"<": [*_FORMS]}
    for token in {*own, *" ".join(FAMILIES.values()).split()}:
        if len(token.strip()) > 1:
            behind.setdefault(token[0], []).append(re.escape(token[1:]))
    return "|".join(f"{re.escape(first)}(?={'|'.join(rest)})" for first, rest in behind.items())
