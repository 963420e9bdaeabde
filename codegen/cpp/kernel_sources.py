"""The sources that call a library's kernels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from codegen.cpp import emit

# About where the kernels take as long to compile as the headers that they include: with GCC 12 and -O2 0.01 s each, and
# 0.7 s. For ExecuTorch's 209, that is 5 s of CPU time and 1.6 s on four cores; in one source 2.9 s, in seven 7 and 2.0.
_KERNELS_PER_SOURCE = 64


def write(source: emit.Source, kernels: Sequence[emit.Boxed], directory: str, native_functions: str) -> None:
    """Writes the sources that call the kernels, of about one size, so that they compile side by side.

    Args:
        source: what they are made from.
        kernels: the kernels.
        directory: where to write them.
        native_functions: the header that declares the kernels.
    """
    Path(directory).mkdir(parents=True, exist_ok=True)
    header = os.path.relpath(native_functions, directory)
    count = -(-len(kernels) // _KERNELS_PER_SOURCE)
    for i in range(count):
        part = kernels[i * len(kernels) // count : (i + 1) * len(kernels) // count]
        Path(directory, f"BoxedKernels{i}.cpp").write_text(emit.boxed(source, part, header))
