"""Labels as a user writes them, and those that Bazel cannot build."""

visibility(["//rules/..."])

ODD_NAME_ERR = """{label}: expected a label of ASCII characters without "#"; got {character}.

Likely cause: the target or its folder is named after a model or a person. Bazel compiles no C++ files with such names.
Fix: use letters without accents, digits, hyphens and underscores.
See: docs/errors.md#odd-name"""

def refuse_odd_name(label):
    """Fails for a target whose own files a compiler and Bazel call differently.

    Bazel does not read the `\\#` that compilers write into lists of dependencies, nor does it find files by letters that
    its locale lacks.

    Args:
      label: Label.
    """
    for character in (label.package + label.name).elems():
        if character == "#" or character > "~":
            fail(ODD_NAME_ERR.format(label = label, character = "\"#\"" if character == "#" else "a character outside ASCII"))

def label_text(label):
    """A label for messages and generated comments: `//pkg:name` in the main repository, else `@@repo//pkg:name`.

    Args:
      label: Label.
    Returns:
      str
    """

    # Without bzlmod, Bazel writes one "@".
    return str(label) if label.repo_name else str(label).lstrip("@")
