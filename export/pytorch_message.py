"""PyTorch's error messages, made short."""

from __future__ import annotations

import re

# How an error advises to look at what is left out: by build settings, or by flags of the tool.
SHOW_MORE = (
    "--@rules_executorch//rules:export_verbose and --@rules_executorch//rules:export_traceback (by hand: --verbose and"
    " --traceback) show more"
)

# Parts of torch.export's messages that advise on debugging PyTorch itself, to the end of the line.
_ADVICE = re.compile(r"\s*(For (more|extended|C\+\+)|Caused by: \(|If you suspect|Set TORCH).*")
# Where an operator is implemented; of an operator in Python, PyTorch names a file of its own.
_IMPLEMENTATION = re.compile(r" \(with implementation in [^)]*\)")
# The message ends here: what follows repeats the user's frames.
_END = re.compile(
    r"^(Here is the node in the graph|The following call raised|The error above occurred|While executing %|User code:"
    r"|from user code)",
    re.M | re.I,
)


def condense(message: str, lines: int = 12, characters: int = 4000) -> str:
    """The part of PyTorch's message that speaks of the model, without its advice on PyTorch's own debug logs."""
    text = _IMPLEMENTATION.sub("", _END.split(message.strip(), maxsplit=1)[0])
    kept = [line for line in (_ADVICE.sub("", line).rstrip() for line in text.splitlines()) if line]
    return "\n    ".join(kept[:lines])[:characters]
