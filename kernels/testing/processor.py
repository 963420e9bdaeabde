"""The instruction sets of rules/private/actions/instruction_sets.bzl for x86-64 that the processor has."""

from pathlib import Path

# From the widest to the narrowest. A processor has a set if /proc/cpuinfo has all its flags.
_AVX512 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
FLAGS: dict[str, set[str]] = {
    "avx512_bf16": _AVX512 | {"avx512_bf16", "avx512_vnni"},
    "avx512": _AVX512,
    "avx2": {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"},
    "baseline": set(),
}


def flags() -> set[str]:
    """The flags of this processor in /proc/cpuinfo; none on platforms other than x86-64 Linux."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next((set(line.split()) for line in lines if line.startswith("flags")), set())


def instruction_sets() -> list[str]:
    """The instruction sets of this processor, from the widest on. On platforms other than x86-64 Linux, baseline."""
    found = flags()
    return [name for name, needed in FLAGS.items() if needed <= found]
