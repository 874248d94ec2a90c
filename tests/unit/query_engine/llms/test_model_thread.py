import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar

import pytest
from llama_index.core.base.llms.types import ChatMessage, LLMMetadata, MessageRole
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMChatStartEvent
from llama_index_instrumentation import get_dispatcher
from pydantic import Field, PrivateAttr

from errors import LLMError
from query_engine.llms.local import LocalLLM, ModelThread

HELLO = [ChatMessage(role=MessageRole.USER, content="Hello")]


def until_stopped(emit: Callable[[str], None], stop: threading.Event) -> None:
    emit("word ")
    assert stop.wait(5)


def spoken(stream: Iterator[str]) -> list[str]:
    return [piece for piece in stream if piece]


def test_pieces_come_in_order_and_an_error_after_them() -> None:
    def generate(emit: Callable[[str], None], _: threading.Event) -> None:
        emit("a")
        emit("b")
        raise LLMError("It broke.", "Mend it.")

    stream = filter(None, ModelThread().stream(generate))

    assert list(islice(stream, 2)) == ["a", "b"]
    with pytest.raises(LLMError, match="It broke"):
        next(stream)


def test_closing_stops_the_model_and_waits_until_it_has_ended() -> None:
    ended = threading.Event()

    def generate(emit: Callable[[str], None], stop: threading.Event) -> None:
        until_stopped(emit, stop)
        ended.set()

    stream = ModelThread().stream(generate)
    assert next(filter(None, stream)) == "word "
    stream.close()

    assert ended.is_set()


def test_empty_pieces_come_while_the_model_is_silent() -> None:
    speak = threading.Event()

    def generate(emit: Callable[[str], None], _: threading.Event) -> None:
        assert speak.wait(5)
        emit("word")

    stream = ModelThread().stream(generate)
    assert next(stream) == ""
    speak.set()
    assert spoken(stream) == ["word"]


def test_one_generation_runs_at_a_time() -> None:
    thread = ModelThread()
    began = threading.Event()
    first = thread.stream(until_stopped)
    assert next(filter(None, first)) == "word "

    def generate(emit: Callable[[str], None], _: threading.Event) -> None:
        began.set()
        emit("mine")

    second = thread.stream(generate)
    assert list(islice(second, 2)) == ["", ""]
    assert not began.is_set()

    first.close()
    assert spoken(second) == ["mine"]


def test_one_who_leaves_the_line_never_reaches_the_model() -> None:
    thread = ModelThread()
    began = threading.Event()
    first = thread.stream(until_stopped)
    assert next(filter(None, first)) == "word "
    second = thread.stream(lambda *_: began.set())

    assert next(second) == ""
    second.close()
    first.close()

    assert spoken(thread.stream(lambda emit, _: emit("next"))) == ["next"]
    assert not began.is_set()


class WordyLLM(LocalLLM):
    """Says its prompt word by word, then waits to be stopped."""

    provider: ClassVar[str] = "wordy"
    waits: bool = False
    ended: list[str] = Field(default_factory=list)
    _thread: ModelThread = PrivateAttr(default_factory=ModelThread)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="wordy", is_chat_model=True)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def templated(self, messages: Sequence[ChatMessage]) -> str:
        return " ".join(f"<{message.role.value}> {message.content}" for message in messages)

    def pieces(self, prompt: str, **_: Any) -> Generator[str, None, None]:
        def generate(emit: Callable[[str], None], stop: threading.Event) -> None:
            for word in prompt.split():
                emit(f"{word} ")
            if self.waits:
                assert stop.wait(5)
            self.ended.append(prompt)

        return self._thread.stream(generate)


class RolelessLLM(WordyLLM):
    """Its chat template refuses a system message, or leaves it out."""

    refuses: bool

    def templated(self, messages: Sequence[ChatMessage]) -> str:
        kept = [message for message in messages if message.role != MessageRole.SYSTEM]
        if self.refuses and len(kept) < len(messages):
            raise ValueError("System role not supported")
        return super().templated(kept)


SYSTEM = [ChatMessage(role=MessageRole.SYSTEM, content="Be brief."), *HELLO]


@pytest.mark.parametrize("refuses", [True, False])
def test_a_template_without_a_system_message_gets_its_text_from_the_user(refuses: bool) -> None:
    llm = RolelessLLM(refuses=refuses)
    llm.learn_roles()

    assert str(llm.chat(SYSTEM).message.content).split() == "<user> Be brief. Hello".split()


def test_a_template_with_a_system_message_gets_it() -> None:
    llm = WordyLLM()
    llm.learn_roles()

    assert str(llm.chat(SYSTEM).message.content).split() == "<system> Be brief. <user> Hello".split()


class Keeper(BaseEventHandler):
    """Keeps every event, exceptions with their frames included."""

    events: list[BaseEvent] = Field(default_factory=list)

    def handle(self, event: BaseEvent, **_: Any) -> None:
        self.events.append(event)


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    handler = Keeper()
    root = get_dispatcher("root")
    root.add_event_handler(handler)
    yield handler
    root.event_handlers.remove(handler)


@pytest.mark.promise("B17")
def test_every_way_to_ask_uses_the_chat_template() -> None:
    llm = WordyLLM()

    assert llm.chat(HELLO).message.content == "<user> Hello "
    assert llm.complete("Hello").text == "<user> Hello "
    assert llm.complete("Hello", formatted=True).text == "Hello "
    assert [each.text for each in llm.stream_complete("Hello") if each.delta] == ["<user> ", "<user> Hello "]


def test_a_stream_carries_llamaindex_events(keeper: Keeper) -> None:
    texts = [each.message.content for each in WordyLLM().stream_chat(HELLO) if each.delta]

    assert texts == ["<user> ", "<user> Hello "]
    assert isinstance(keeper.events[0], LLMChatStartEvent)
    assert isinstance(keeper.events[-1], LLMChatEndEvent)


def test_closing_a_stream_stops_the_model_even_when_a_handler_keeps_the_exception(keeper: Keeper) -> None:
    llm = WordyLLM(waits=True)
    stream = llm.stream_chat(HELLO)
    assert next(iter(each.delta for each in stream if each.delta)) == "<user> "

    stream.close()

    assert llm.ended == ["<user> Hello"]
    assert keeper.events
