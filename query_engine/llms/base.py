"""What every kind of language model is, once it is ready: a LlamaIndex LLM and what the prompt must know about it.

Flow: `huggingface.py`, `openai.py` -> **this value** -> `build.py`.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ChatResponseGen, MessageRole
from llama_index.core.llms import LLM
from llama_index.core.llms.callbacks import llm_chat_callback

from query_engine.llms.reply import LengthReached, Thought
from query_engine.runtime.watching import ModelCall, model_call

# Where LlamaIndex's models put a piece of reasoning.
THINKING = "thinking_delta"
# Where ours say that the answer was stopped at its limit.
LENGTH = "length_reached"
# While there is no text, a stream yields an empty piece this often.
HEARTBEAT_S = 0.1
# Nucleus sampling.
TOP_P = 0.9
_SAID = "Answer in one word."


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A language model that can be asked.

    Attributes:
        llm: its `stream_chat` takes `max_tokens` and `temperature` for one answer, where they are to be other than the
            settings'. Closing the stream stops it within one token. While it waits, the stream yields
            empty pieces a few times a second, so that its reader can look whether it is still wanted.
        label: model and place, for people.
        window: returns how many tokens prompt and answer may have together; may ask a server.
        count_tokens: length of a text for this model; an estimate on the safe side when its tokenizer is unknown.
        control_tokens: the tokenizer's special tokens; empty when unknown.
    """

    llm: LLM
    label: str
    window: Callable[[], int]
    count_tokens: Callable[[str], int]
    control_tokens: tuple[str, ...] = ()


def chat_stream(
    llm: LLM, messages: Sequence[ChatMessage], pieces: Generator[str, None, None], call: ModelCall
) -> ChatResponseGen:
    """Yield pieces of text as LlamaIndex chat responses, with LlamaIndex's events; thoughts beside the text.

    `pieces` is closed with this stream, at once: LlamaIndex's own wrappers leave that to the garbage collector, and an
    event handler that keeps an exception keeps the model running. `call` is watched until then.
    """

    @llm_chat_callback()
    def responses(_llm: LLM, _messages: Sequence[ChatMessage]) -> ChatResponseGen:
        def generate() -> ChatResponseGen:
            text = ""
            for piece in pieces:
                thought = isinstance(piece, Thought)
                also = {THINKING: str(piece)} if thought else {LENGTH: True} if isinstance(piece, LengthReached) else {}
                text += "" if thought else piece
                call.reply += piece
                yield ChatResponse(
                    message=ChatMessage(role=MessageRole.ASSISTANT, content=text),
                    delta="" if thought else piece,
                    additional_kwargs=also,
                )

        return generate()

    call.messages = [(message.role.value, message.content or "") for message in messages]
    with model_call(call), closing(pieces):
        yield from responses(llm, messages)


def said(stream: ChatResponseGen) -> Iterator[str]:
    """Yield what a chat stream brings: thoughts as `Thought`, the answer's limit as `LengthReached`, text as it is."""
    for chunk in stream:
        if thought := chunk.additional_kwargs.get(THINKING):
            yield Thought(thought)
        yield LengthReached() if LENGTH in chunk.additional_kwargs else chunk.delta or ""


def has_system(templated: Callable[[Sequence[ChatMessage]], str]) -> bool:
    """Whether a chat template has a system message: others refuse it or leave it out."""
    chat = [ChatMessage(role=MessageRole.SYSTEM, content=_SAID), ChatMessage(role=MessageRole.USER, content="?")]
    try:
        return _SAID in templated(chat)
    except Exception:  # noqa: BLE001  # each template engine has its own
        return False


def without_system(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages with a leading system message put before the text of the next one."""
    first, *others = messages
    if first.role != MessageRole.SYSTEM or not others:
        return list(messages)
    text = f"{first.content}\n\n{others[0].content}"
    return [ChatMessage(role=others[0].role, content=text), *others[1:]]
