"""The instruction set of a run: the choice, how contestants are limited to it, and contestants without a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernels.testing import processor
from tools.bench.peers import llama_cpp_package
from tools.bench.peers.masked import masked

# Environment variables that limit PyTorch to a set: its kernels, MKL on Intel's processors, oneDNN and torch.compile.
_PYTORCH = {
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "TORCHINDUCTOR_CPP_MARCH": "x86-64-v3",
    },
    "avx512": {
        "ATEN_CPU_CAPABILITY": "avx512",
        "MKL_ENABLE_INSTRUCTIONS": "AVX512",
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
        "TORCHINDUCTOR_CPP_MARCH": "x86-64-v4",
    },
}
_WITHOUT_PYTORCH = {column: "oneDNN needs SSE4.1" for column in ("eager", "compile")}
_WITHOUT_AOTI = {"aoti": "its packages are compiled for the processor of the machine that builds them"}
# Columns that use the widest set of the processor and have no complete setting. They run as masked copies.
_MASKED = ("xnnpack", "onnxruntime", "openvino")


@dataclass(frozen=True)
class InstructionSet:
    """The instruction set of a run.

    Attributes:
        name: the name in runtime/kernel_api/instruction_set.h.
        widest: the widest set of the processor. If this is another set, contestants are limited to `name`.
    """

    name: str
    widest: str

    @property
    def limit(self) -> str:
        """The set that contestants are limited to; empty if this is the processor's widest."""
        return "" if self.name == self.widest else self.name

    @property
    def of_pytorch(self) -> Mapping[str, str]:
        """The environment variables that limit PyTorch."""
        return _PYTORCH.get(self.limit, {})

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables of each contestant's process."""
        return {"EXECUTORCH_INSTRUCTION_SET": self.name, **self.of_pytorch}

    @property
    def masked(self) -> Sequence[str]:
        """The columns that run as masked copies."""
        return _MASKED if self.limit in masked.SETS else ()

    @property
    def left_out(self) -> Mapping[str, str]:
        """The columns that cannot be limited to the set, with the reasons."""
        if not self.limit:
            return {}
        left_out = ({} if self.of_pytorch else _WITHOUT_PYTORCH) | _WITHOUT_AOTI
        if not self.masked:
            left_out |= dict.fromkeys(_MASKED, "it uses the widest set of the processor, and has no setting")
        if self.limit not in llama_cpp_package.CMAKE_ARGUMENTS:
            left_out["llama_cpp"] = "its package is compiled for the processor of the machine that builds it"
        return left_out


def choose(name: str, built: str) -> InstructionSet:
    """Chooses the instruction set of a run.

    Args:
        name: the user's choice; empty for the widest.
        built: the value of //rules:instruction_sets for the build of the kernels.
    Raises:
        ValueError: the processor or the build has no such set.
    """
    widest, *_ = of_processor = processor.instruction_sets()
    names = [one for one in of_processor if built == "all" or one in built.split(",")]
    if not names:
        raise ValueError(f"the kernels are compiled for {built}, and this processor has {', '.join(of_processor)}")
    if name and name not in names:
        raise ValueError(f"{name} is none of the sets of this build and this processor: {', '.join(names)}")
    return InstructionSet(name or names[0], widest)
