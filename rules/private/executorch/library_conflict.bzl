"""Checks that the attributes of an executorch_model do not contradict each other."""

visibility(["//rules/..."])

LIBRARY_CONFLICT_ERR = """{label}: library = "{library}" excludes {others}; got both.

Likely cause: the model had a library of its own, with {others}, before the attribute library was added.
Fix: remove {others}, or move these attributes to the target of "{library}"; or remove library.
See: docs/errors.md#library-conflict"""

def library_conflict(label, library, own):
    """Returns the error of a model that shares a library, and has attributes for a library of its own.

    Args:
      label: str, the model's label.
      library: str or Label, the shared library; None if the model has its own.
      own: dict[str, value], the attributes for a library of the model's own, by name.
    Returns:
      str or None
    """
    others = [name for name, value in own.items() if value]
    if not library or not others:
        return None
    return LIBRARY_CONFLICT_ERR.format(label = label, library = library, others = " and ".join(others))
