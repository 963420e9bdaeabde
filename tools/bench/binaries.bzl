"""Lists the executable targets of a BUILD file."""

visibility("private")

def binaries():
    """Returns the names of the executable targets above the call in a BUILD file.

    Returns:
      list[str]
    """
    return [
        name
        for name, rule in native.existing_rules().items()
        if rule["kind"] in ["alias", "cc_binary", "py_binary"]
    ]
