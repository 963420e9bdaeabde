"""The error for a program that cannot be compiled."""

from __future__ import annotations

from diagnostics.errors import Finding, InputError


def uncompilable(label: str, found: str, cause: str, fix: str) -> InputError:
    """Returns the error.

    Args:
        label: the label of the compiled program.
        found: the part of the program that cannot be compiled, as one sentence.
        cause: the reason, as one sentence.
        fix: what to do, as one sentence.
    """
    return InputError(Finding(id="uncompilable-program", where=label, found=found, cause=cause, fix=fix))
