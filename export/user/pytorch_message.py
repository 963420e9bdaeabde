"""Shortens PyTorch's error messages."""

from __future__ import annotations

import re

# The advice for seeing the full message: build settings, or flags of the tool.
SHOW_MORE = (
    "--@rules_executorch//rules:export_verbose and --@rules_executorch//rules:export_traceback (by hand: --verbose and"
    " --traceback) show more"
)

# Parts of torch.export's messages that advise on debugging PyTorch itself, to the end of the line.
_ADVICE = re.compile(r"\s*(For (more|extended|C\+\+)|Caused by: \(|If you suspect|Set TORCH).*")
# The place of an operator's implementation. For an operator in Python, PyTorch names one of its own files.
_IMPLEMENTATION = re.compile(r" \(with implementation in [^)]*\)")
# The beginnings of the parts that repeat the user's frames. The shortened message ends before them.
_END = re.compile(
    r"^(Here is the node in the graph|The following call raised|The error above occurred|While executing %|User code:"
    r"|from user code)",
    re.M | re.I,
)


def condense(message: str, lines: int = 12, characters: int = 4000) -> str:
    """Returns the part of PyTorch's message about the model, without advice on PyTorch's debug logs.

    Args:
        message: PyTorch's message.
        lines: the largest number of lines.
        characters: the largest number of characters.
    """
    text = _IMPLEMENTATION.sub("", _END.split(message.strip(), maxsplit=1)[0])
    kept = [line for line in (_ADVICE.sub("", line).rstrip() for line in text.splitlines()) if line]
    return "\n    ".join(kept[:lines])[:characters]
