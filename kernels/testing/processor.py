"""Which of the instruction sets of runtime/kernel_api/instruction_set.h the processor has."""

from pathlib import Path

# From the widest on, with flags of /proc/cpuinfo that only processors with the set have all of.
_AVX512 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_FLAGS = {
    "avx512_bf16": _AVX512 | {"avx512_bf16", "avx512_vnni"},
    "avx512": _AVX512,
    "avx2": {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"},
}
_BASELINE = "baseline"


def instruction_sets() -> list[str]:
    """The instruction sets of this processor, from the widest on. Elsewhere than on x86-64 Linux: the baseline."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
    return [name for name, needed in _FLAGS.items() if needed <= flags] + [_BASELINE]
