"""Which arithmetic a CPU is fast at, from what the kernel says of it."""

from pathlib import Path

import pytest

from index.build import Embedding
from index.embedding import cpu
from settings import EmbedSettings, Settings

X86 = "processor\t: 0\nflags\t\t: fpu sse4_2 avx2 {}\nbugs\t\t: none\n"


@pytest.mark.parametrize(
    ("cpu_info", "int8", "bf16"),
    [
        (X86.format("avx512f avx512_vnni"), True, False),
        (X86.format("avx_vnni avx512_bf16"), True, True),
        (X86.format("amx_bf16 amx_int8"), True, True),
        ("processor\t: 0\nFeatures\t: fp asimd asimddp i8mm bf16\n", True, True),
        (X86.format("avx512f avx512bw"), False, False),
        ("processor\t: 0\nFeatures\t: fp asimd\n", False, False),
        # Not a list of features, though the name stands in it.
        ("model name\t: avx512_vnni\n", False, False),
        ("", False, False),
        (None, False, False),
    ],
)
def test_instructions_decide(cpu_info: str | None, int8: bool, bf16: bool, tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    if cpu_info is not None:
        path.write_text(cpu_info)

    assert (cpu.multiplies_int8(path), cpu.multiplies_bf16(path)) == (int8, bf16)


@pytest.mark.parametrize(
    ("asked", "fast", "expected"),
    [("auto", True, "int8"), ("auto", False, "fp32"), ("int8", False, "int8"), ("fp32", True, "fp32")],
)
def test_auto_is_what_the_cpu_is_fast_at(
    asked: str, fast: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "multiplies_int8", lambda: fast)
    settings = Settings(embed=EmbedSettings.model_validate({"precision": asked}))

    assert Embedding(settings).manifest.precision == expected


def test_auto_is_the_default() -> None:
    assert EmbedSettings().precision == "auto"
