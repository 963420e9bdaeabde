"""The kinds of findings that a build can report. Each kind has a file diagnostics/kinds/<id>.md.

This command writes docs/errors.md from these files:

tools/bazel run //diagnostics:update_errors
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from absl import app

FOLDER = Path(__file__).parent / "kinds"

# In the order of a build.
STEPS = (
    "Selecting operators",
    "Reading functions.yaml and custom_ops.yaml",
    "Generating a library and binding its kernels",
    "Compiling a program to C++",
    "Checking a binary",
    "Bundling a binary",
    "Building a Python library",
    "Calling a Python library",
    "Measuring a binary",
    "Reading a program",
    "Exporting a model",
    "Compiling a model with AOTInductor",
    "Testing an operator for PyTorch",
    "Building an operator library for PyTorch",
    "Building a Qualcomm op package",
)

# A paragraph has no empty lines. An example is between fences.
_PARAGRAPH = r"[^\n]+(?:\n[^\n]+)*"
_FORM = re.compile(
    rf"Step: (?P<step>[^\n]+)\n\n"
    rf"(?P<meaning>(?!Fix: |```){_PARAGRAPH})\n\n"
    rf"(?P<example>```[a-z]+\n(?:(?!```)[^\n]*\n)+```)\n\n"
    rf"(?P<fix>Fix: {_PARAGRAPH})\n"
)


class MalformedFileError(ValueError):
    """A file of diagnostics/kinds does not have the form that CONTRIBUTING.md shows."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding.

    Attributes:
        id: the file's name. Each message of the kind ends with the id.
        step: the step of the build that reports the finding.
        meaning: the mistake and its consequences.
        example: an input with the mistake, between fences.
        fix: the fix, after `Fix: `.
    """

    id: str
    step: str
    meaning: str
    example: str
    fix: str


def parse(path: Path) -> Kind:
    """Parses the file of one kind of finding.

    Raises:
        MalformedFileError: the file has another form.
    """
    if not re.fullmatch(r"[a-z]+(-[a-z]+)*\.md", path.name):
        raise MalformedFileError(f"{path}: the file's name is not an id (words of small letters, with hyphens) and .md")
    match = _FORM.fullmatch(path.read_text())
    if match is None:
        raise MalformedFileError(
            f"{path}: the file is not four parts with an empty line between them: `Step: `, a paragraph with the "
            "meaning, an example between ```<language> and ```, `Fix: `"
        )
    if match["step"] not in STEPS:
        raise MalformedFileError(f"{path}: the step {match['step']!r} is none of: {'; '.join(STEPS)}")
    return Kind(path.stem, **match.groupdict())


def read(folder: Path = FOLDER) -> tuple[Kind, ...]:
    """Returns all kinds of findings, sorted by step and id.

    Raises:
        MalformedFileError: a file has another form.
    """
    return tuple(sorted((parse(path) for path in folder.iterdir()), key=lambda kind: (STEPS.index(kind.step), kind.id)))


def document(kinds: Sequence[Kind]) -> str:
    """Returns the text of docs/errors.md."""
    parts = [
        "# What the build can find wrong\n",
        "Every message has the same form: where, what was found, the likely cause, the fix, and the id under which the"
        " message is listed here.\n",
        "<!-- Made of diagnostics/kinds by `tools/bazel run //diagnostics:update_errors`. -->",
    ]
    for step in STEPS:
        parts.append(f"\n## {step}\n")
        parts += [f"### {k.id}\n\n{k.meaning}\n\n{k.example}\n\n{k.fix}\n" for k in kinds if k.step == step]
    return "\n".join(parts)


def main(argv: Sequence[str]) -> None:
    del argv
    try:
        text = document(read())
    except MalformedFileError as e:
        sys.exit(str(e))
    (Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "docs" / "errors.md").write_text(text)


if __name__ == "__main__":
    app.run(main)
