"""Finds intrinsics and vector types of kernels outside of kernels/simd, which has an API for vectors.

An attribute that lets a function have instructions beyond those of its file counts, too.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable, Iterator

_FOLDER = "kernels/simd/"
_INTRINSIC = re.compile(
    r"""
    <\w*mmintrin\.h> | <arm_\w+\.h> | <wasm_\w+\.h>      # headers
    | \b_mm\d*_\w+ | \b__m(?:mask)?\d+\w*                # x86: functions, types
    | \bv(?:ld|st)[1-4]q?_\w+                            # arm64: loads and stores
    | \b(?:bfloat|float|poly|u?int)\d+x\d+(?:x\d)?_t\b   # arm64: types
    | \bv128_t\b | \bwasm_[iuf]\d+x\d+_\w+ | \bwasm_v128_\w+   # WebAssembly
    | \bvector_size\b | \bext_vector_type\b | \bgnu::target\b
    | \b__builtin_(?:ia32_\w+|(?:aarch64|neon|wasm)_\w+|shuffle\w*|convertvector)
    """,
    re.VERBOSE,
)


def intrinsics(text: str) -> list[str]:
    """Returns the intrinsics in a text."""
    return [match.group() for match in _INTRINSIC.finditer(text)]


def check(tree: pathlib.Path, files: Iterable[str]) -> Iterator[str]:
    """Yields a line `place: word` for each intrinsic in the kernels' files outside of kernels/simd."""
    for file in files:
        if file.startswith("kernels/") and not file.startswith(_FOLDER):
            for number, line in enumerate((tree / file).read_text().splitlines(), 1):
                yield from (f"{file}:{number}: {word}, which is for {_FOLDER} only" for word in intrinsics(line))
