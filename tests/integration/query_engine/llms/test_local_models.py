"""The packaged SmolLM2, through transformers."""

import re
import shutil
import threading
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from errors import LLMError, ModelError, SettingsError
from query_engine.llms.base import LoadedModel
from query_engine.llms.build import build_model
from query_engine.llms.local import LocalLLM, packaged_gguf
from query_engine.prompting.builder import PromptBuilder
from query_engine.schema.citations import Citations
from query_engine.schema.source import Source
from query_engine.synthesis.generative import GenerativeSynthesizer
from settings import LLMSettings, Settings
from tests.fakes.llm import passage
from tests.fakes.synthesizers import text_of

pytestmark = pytest.mark.slow

FRANCE = [ChatMessage(role=MessageRole.USER, content="What is the capital of France? Answer in one sentence.")]
STORY = [ChatMessage(role=MessageRole.USER, content="Tell a long story about the sea.")]
WIND = "Wind is moving air. Albert Betz published in 1919 that at best 59.3 per cent of its energy can be captured. "


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return build_model(
        Settings(llm=LLMSettings(provider="huggingface", temperature=0, max_new_tokens=40, device="cpu"))
    )


@pytest.fixture
def llm(model: LoadedModel) -> LocalLLM:
    assert isinstance(model.llm, LocalLLM)
    return model.llm


def synthesizer_of(model: LoadedModel, max_prompt_tokens: int = 3000) -> GenerativeSynthesizer:
    prompts = PromptBuilder(
        max_context_chars=6000,
        max_prompt_tokens=lambda: max_prompt_tokens,
        count_tokens=model.count_tokens,
        control_tokens=model.control_tokens,
    )
    return GenerativeSynthesizer("local", model.llm, prompts)


def test_an_answer_streams_in_pieces(llm: LocalLLM) -> None:
    pieces = [each.delta or "" for each in llm.stream_chat(FRANCE)]

    assert len([piece for piece in pieces if piece]) > 3
    assert "Paris" in "".join(pieces)
    assert "<|im_end|>" not in "".join(pieces)


def test_the_author_writes_and_cites(model: LoadedModel) -> None:
    dam = passage("The Itaipu dam stands on the river Parana between Brazil and Paraguay.", title="Dams")
    citations = Citations()

    pieces = synthesizer_of(model).write(
        "Where does the Itaipu dam stand?", [Source(dam)], citations, threading.Event()
    )

    assert re.search("Parana|Brazil|Paraguay", text_of(pieces))
    assert [each.quote for each in citations.all()] == [dam.text]


def test_one_answer_may_be_shorter_than_the_settings(llm: LocalLLM) -> None:
    text = "".join(each.delta or "" for each in llm.stream_chat(STORY, max_tokens=4, temperature=0.5))

    assert 1 <= llm.count_tokens(text) <= 4


def test_a_stream_that_is_closed_stops_the_model_and_frees_it(llm: LocalLLM) -> None:
    before = set(threading.enumerate())
    stream = llm.stream_chat(STORY)
    assert next(filter(None, (each.delta for each in stream)))

    stream.close()

    assert len(set(threading.enumerate()) - before) <= 1  # the model's own thread waits for the next prompt
    assert "Paris" in str(llm.chat(FRANCE).message.content)


def test_a_stop_ends_the_answer_early(model: LoadedModel) -> None:
    stop = threading.Event()
    pieces = synthesizer_of(model).write("Tell all about wind.", [Source(passage(WIND * 5))], Citations(), stop)
    next(pieces)
    stop.set()

    assert not list(pieces)


def test_two_readers_take_turns(llm: LocalLLM) -> None:
    answers: list[str] = []
    readers = [threading.Thread(target=lambda: answers.append(llm.complete("Say hello.").text)) for _ in range(2)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()

    assert answers[0] == answers[1] != ""


@pytest.mark.fault("E10")
def test_the_tokenizer_sees_only_the_templates_control_tokens(model: LoadedModel, llm: LocalLLM) -> None:
    assert {"<|im_start|>", "<|im_end|>", "<|endoftext|>"} <= set(model.control_tokens)
    prompts = synthesizer_of(model)._prompts
    hostile = " ".join(model.control_tokens)

    def controls(question: str, text: str) -> int:
        prompt = llm.templated(prompts.build(question, [Source(passage(text, title=text))]).messages)
        return sum(prompt.count(token) for token in model.control_tokens)

    assert controls(f"Why {hostile}?", f"Text {hostile}{hostile} text.") == controls("Why?", "Text.")


def test_a_prompt_with_its_template_keeps_within_the_context(model: LoadedModel, llm: LocalLLM) -> None:
    awkward = "Größe 0,000123 µm² → 風力 ⚡ §4.2(b) x==y; " * 60
    sources = [Source(passage(awkward)), Source(passage(WIND * 90))]
    prompt = synthesizer_of(model, max_prompt_tokens=900)._prompts.build("What?", sources)

    assert 500 < model.count_tokens(llm.templated(prompt.messages)) <= 900


@pytest.mark.fault("B13")
@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("absent.gguf", "does not exist"),
        ("half.gguf", "cannot be loaded"),
        ("head.gguf", "cannot be loaded"),
        ("empty.gguf", "cannot be loaded"),
        ("text.gguf", "cannot be loaded"),
        ("absent/folder/x", "does not exist"),
    ],
)
def test_a_missing_or_damaged_model_is_one_clear_line(tmp_path: Path, name: str, fact: str) -> None:
    with packaged_gguf().open("rb") as whole:
        half = whole.read(50_000_000)
    (tmp_path / "half.gguf").write_bytes(half)
    (tmp_path / "head.gguf").write_bytes(half[:1000])
    (tmp_path / "empty.gguf").write_bytes(b"")
    (tmp_path / "text.gguf").write_bytes(b"<html>not found</html>" * 100)

    with pytest.raises(ModelError, match=fact) as failure:
        build_model(Settings(llm=LLMSettings(provider="huggingface", model=str(tmp_path / name))))
    assert "\n" not in str(failure.value)
    assert "Traceback" not in str(failure.value)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small model of random weights, as transformers writes it."""
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM  # noqa: PLC0415

    gguf, folder = packaged_gguf(), tmp_path_factory.mktemp("made")
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name, local_files_only=True)
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "model"))


def load_folder(folder: Path) -> LoadedModel:
    llm = LLMSettings(provider="huggingface", model=str(folder), device="cpu", max_new_tokens=16)
    return build_model(Settings(llm=llm))


def test_a_local_folder_is_loaded_without_asking_the_hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("socket.getaddrinfo", lambda *host, **_: asked.append(host))

    model = load_folder(folder)

    assert model.llm.complete("Hello").text != ""
    assert model.window() == 2048  # what the model was made for, less than the setting
    assert asked == []


def test_a_damaged_folder_is_told(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    with pytest.raises(ModelError, match=r"cannot be loaded: .*\. Download it again"):
        load_folder(folder)

    weights.unlink()
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_folder(folder)


def test_a_model_without_a_chat_template_is_refused(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()

    with pytest.raises(ModelError, match="no usable chat template"):
        load_folder(folder)


def test_four_bits_without_a_gpu_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    llm = LLMSettings(provider="huggingface", model=str(tmp_path / "model"), device="cpu", four_bit=True)

    with pytest.raises(SettingsError, match="needs a CUDA device and bitsandbytes"):
        build_model(Settings(llm=llm))


def test_a_hub_that_cannot_be_reached_is_one_clear_line() -> None:
    llm = LLMSettings(provider="huggingface", model="nobody/no-such-model", device="cpu")

    with pytest.raises(ModelError, match=r"nobody/no-such-model cannot be fetched .* Check its name and the network"):
        build_model(Settings(llm=llm))


def test_a_context_that_is_too_small_for_the_question_is_an_error(model: LoadedModel) -> None:
    pieces = synthesizer_of(model, max_prompt_tokens=400).write(
        "why " * 400, [Source(passage(WIND))], Citations(), threading.Event()
    )

    with pytest.raises(LLMError, match="leaves no room"):
        list(pieces)
