"""What of an executorch_model does not go together."""

visibility(["//rules/..."])

LIBRARY_CONFLICT_ERR = """{label} has library = "{library}", and {others} besides, which only a library of its own would take.

Likely cause: the model had a library of its own before it shared one.
Fix: remove {others}, or give the same to what makes "{library}"; or remove library.
See: docs/errors.md#library-conflict"""

def library_conflict(label, library, own):
    """The error of a model that shares a library, and has attributes of a library of its own.

    Args:
      label: str, the model's label.
      library: str or Label, the library that it shares; None if it has its own.
      own: dict[str, value], the attributes of a library of its own, by their names.
    Returns:
      str or None
    """
    others = [name for name, value in own.items() if value]
    if not library or not others:
        return None
    return LIBRARY_CONFLICT_ERR.format(label = label, library = library, others = " and ".join(others))
