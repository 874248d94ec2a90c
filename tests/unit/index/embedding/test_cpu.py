"""Which arithmetic a CPU is fast at, from what the kernel says of it."""

from pathlib import Path

import pytest

from index.build import Embedding
from index.embedding import cpu
from settings import EmbedSettings, Settings

X86 = "processor\t: 0\nflags\t\t: fpu sse4_2 avx2 {}\nbugs\t\t: none\n"


@pytest.mark.parametrize(
    ("cpu_info", "fast"),
    [
        (X86.format("avx512f avx512_vnni"), True),
        (X86.format("avx_vnni"), True),
        (X86.format("amx_bf16 amx_int8"), True),
        ("processor\t: 0\nFeatures\t: fp asimd asimddp i8mm bf16\n", True),
        (X86.format("avx512f avx512bw"), False),
        ("processor\t: 0\nFeatures\t: fp asimd\n", False),
        # Not a list of features, though the name stands in it.
        ("model name\t: avx512_vnni\n", False),
        ("", False),
    ],
)
def test_instructions_decide(cpu_info: str, fast: bool, tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(cpu_info)

    assert cpu.multiplies_int8(path) is fast


def test_bf16_is_computed_with_where_the_cpu_has_it(tmp_path: Path) -> None:
    with_it, without = tmp_path / "with", tmp_path / "without"
    with_it.write_text(X86.format("avx512_bf16"))
    without.write_text(X86.format("avx512_vnni"))

    assert cpu.multiplies_bf16(with_it)
    assert not cpu.multiplies_bf16(without)


def test_without_the_kernels_file_nothing_is_assumed(tmp_path: Path) -> None:
    assert not cpu.multiplies_int8(tmp_path / "missing")


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
