"""What a BUILD file has that runs."""

visibility("private")

def binaries():
    """The names of the targets above, of those that `bazel run` takes.

    Returns:
      list[str]
    """
    return [
        name
        for name, rule in native.existing_rules().items()
        if rule["kind"] in ["alias", "cc_binary", "py_binary"]
    ]
