"""What exceptions say. The module does not import PyTorch."""

from __future__ import annotations

import re
from collections.abc import Iterator

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


def text_of(error: BaseException) -> str:
    """Returns an exception's message, without the place that a SyntaxError adds, which `Source.failure` reports."""
    try:
        return str(error.args[0] if isinstance(error, SyntaxError) and error.args else error)
    except BaseException as failed:
        return f"(its text cannot be made: {type(failed).__name__})"


def first_lines(text: str, lines: int = 6, characters: int = 600) -> str:
    """Returns the first lines of a text, indented for an error message."""
    kept = text.strip().splitlines()[:lines]
    return "\n    ".join(kept)[:characters]


def condense(message: str) -> str:
    """Returns the part of PyTorch's message about the model, without advice on PyTorch's debug logs."""
    text = _IMPLEMENTATION.sub("", _END.split(message.strip(), maxsplit=1)[0])
    kept = [line for line in (_ADVICE.sub("", line).rstrip() for line in text.splitlines()) if line]
    return first_lines("\n".join(kept), lines=12, characters=4000)


def causes(error: BaseException, *, with_contexts: bool = False) -> Iterator[BaseException]:
    """Yields an exception, its cause, the cause of that, and so on. A user's exception may cause itself.

    Args:
        error: the exception.
        with_contexts: whether to go on with the exception that was handled when one without a cause was raised.
    """
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        yield following
        seen.add(id(following))
        following = following.__cause__ or (following.__context__ if with_contexts else None)
