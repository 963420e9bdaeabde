"""Finds the user's own frames in stack traces."""

from __future__ import annotations

import inspect
import os
import re
import site
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from diagnostics.errors import Location

# Folders of these rules. Frames in these folders do not count as the user's.
_TOOLS = tuple(
    Path(__file__).absolute().parents[2] / tool for tool in ("codegen", "diagnostics", "export", "torch_ops")
)

# The largest number of frames in an error, and of characters in a line.
_MAX_FRAMES = 20
_MAX_LINE = 200

# A file of an installed package.
_IN_PACKAGE = re.compile(r".*/(?:site|dist)-packages/([^/]+)")
# What does not count as the place of an error in a package: files of no package, PyTorch, and what PyTorch calls.
_NO_PACKAGES = frozenset(["", "executorch", "functorch", "mpmath", "numpy", "sympy", "torch", "torchao", "torchgen"])

# A frame of a stack trace.
_FRAME = re.compile(r'^ *File "(.+)", line (\d+), in (.+)$', re.M)


@dataclass(frozen=True)
class Code:
    """The user's own code.

    Attributes:
        path: the user's Python file.
        import_paths: folders of the user's own modules.
    """

    path: Path
    import_paths: tuple[Path, ...] = ()

    def location(self, function: Callable[..., Any] | None = None) -> Location:
        """Returns the location of a function in the file; the file's location without a function."""
        code = getattr(inspect.unwrap(function), "__code__", None) if function else None
        if code and Path(code.co_filename) == self.path:
            return Location(str(self.path), code.co_firstlineno, 1)
        return Location(str(self.path))

    def is_users(self, filename: str) -> bool:
        """Returns whether a source file is the user's own, and not a file of PyTorch or another package."""
        if filename.startswith("<"):  # No file: PyTorch compiled the code from a string.
            return False
        path = Path(filename).absolute()
        if path == self.path.absolute():
            return True
        packages = [*site.getsitepackages(), sys.base_prefix, str(Path(torch.__file__ or "").parents[1])]
        return any(path.is_relative_to(folder.absolute()) for folder in self.import_paths) and not (
            any(path.is_relative_to(Path(folder).absolute()) for folder in packages)
            or {"site-packages", "dist-packages"} & set(path.parts)
            or any(path.is_relative_to(tool) for tool in _TOOLS)
        )

    def frames(self, error: BaseException) -> tuple[Location | None, tuple[str, ...]]:
        """Returns the location of the innermost of the user's frames in a traceback, and frames as text.

        The text has all frames of the user, and after these the innermost frame of another package than PyTorch.
        """
        return self._own([*traceback.extract_tb(error.__traceback__)])

    def frames_of_text(self, stack_trace: str) -> tuple[Location | None, tuple[str, ...]]:
        """The same as `frames` for a stack trace as text, as in the metadata of a node."""
        return self._own(
            [
                traceback.FrameSummary(match[1], int(match[2]), match[3], lookup_line=True)
                for match in _FRAME.finditer(stack_trace)
            ]
        )

    def _own(self, stack: Sequence[traceback.FrameSummary]) -> tuple[Location | None, tuple[str, ...]]:
        own = [index for index, frame in enumerate(stack) if self.is_users(frame.filename)]
        after = stack[own[-1] + 1 if own else 0 :]
        in_package = [frame for frame in after if _package(frame.filename) not in _NO_PACKAGES][-1:]
        shown = [stack[index] for index in own[-_MAX_FRAMES:]]
        places = [
            (f"{path_shown(frame.filename)}:{frame.lineno}, in {frame.name}", (frame.line or "")[:_MAX_LINE])
            for frame in (*shown, *in_package)
        ]
        lines = [line for place, code in places for line in (place, f"    {code}")]
        if len(own) > len(shown):
            lines.insert(0, f"... {len(own) - len(shown)} calls before")
        details = tuple(line for line in lines if line.strip())
        if not own:
            return None, details
        last = stack[own[-1]]
        at = Location(path_shown(last.filename), last.lineno or 0, (getattr(last, "colno", 0) or 0) + 1)
        return at, details


def _package(filename: str) -> str:
    """Returns the name of the installed package that has a file; empty for other files."""
    match = _IN_PACKAGE.match(filename)
    return match[1].removesuffix(".py") if match else ""


def path_shown(filename: str) -> str:
    """Returns a file's path as users know it.

    The path of a package's file begins with the package. Other paths are relative to the working directory if the file
    is below it.
    """
    if match := _IN_PACKAGE.match(filename):
        return filename[match.start(1) :]
    path = Path(os.path.relpath(filename))
    return filename if ".." in path.parts else str(path)
