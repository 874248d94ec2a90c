"""What arithmetic this machine's CPU is fast at (ADR 0011).

`index/build.py` asks **here** what `RAG_EMBED__PRECISION=auto` is on it, `openvino.py` how int8 models are run, and
what runs on PyTorch whether bf16 is faster than fp32.
"""

from functools import cache
from pathlib import Path

# The kernel's names of instructions that multiply 8-bit integers and add up in 32 bits: x86 and Arm.
INT8_INSTRUCTIONS = frozenset({"avx512_vnni", "avx_vnni", "amx_int8", "i8mm"})
BF16_INSTRUCTIONS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
CPU_INFO = Path("/proc/cpuinfo")


@cache
def multiplies_int8(cpu_info: Path = CPU_INFO) -> bool:
    """Tell whether the CPU multiplies 8-bit integers faster than 32-bit floats; false where the kernel does not say."""
    return _has_any(INT8_INSTRUCTIONS, cpu_info)


@cache
def multiplies_bf16(cpu_info: Path = CPU_INFO) -> bool:
    """Tell whether the CPU multiplies bf16; elsewhere PyTorch emulates it, ten times slower than fp32."""
    return _has_any(BF16_INSTRUCTIONS, cpu_info)


def _has_any(instructions: frozenset[str], cpu_info: Path) -> bool:
    try:
        lines = cpu_info.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    named = (line.partition(":") for line in lines)
    return any(
        key.strip().lower() in {"flags", "features"} and not instructions.isdisjoint(value.split())
        for key, _, value in named
    )


def resolved(precision: str) -> str:
    """Return a precision of the settings with `auto` resolved: `int8` where that is fast, else `fp32`."""
    if precision != "auto":
        return precision
    return "int8" if multiplies_int8() else "fp32"


def int8_options() -> dict[str, str]:
    """Return OpenVINO's options for a model with int8 operations.

    Without the instructions its kernels add up in 16 bits, which overflow, and are slower than floats: there the same
    quantised values are computed in fp32. A model without such operations is not affected.
    """
    return {} if multiplies_int8() else {"LP_TRANSFORMS_MODE": "NO"}
