"""Labels as a user writes them."""

visibility(["//rules/..."])

def label_text(label):
    """A label for messages and generated comments: `//pkg:name` in the main repository, else `@@repo//pkg:name`.

    Args:
      label: Label.
    Returns:
      str
    """
    return str(label).removeprefix("@@") if not label.repo_name else str(label)
