"""What pages show: blocks of code, the files that a reader writes, and the commands that a reader runs."""

from __future__ import annotations

import dataclasses
import re

# Pages that have all files of their workspaces but the README's MODULE.bazel. guides_test follows these pages.
GUIDES = (
    "docs/aten_mode.md",
    "docs/custom_operators.md",
    "docs/delegates.md",
    "docs/first_operator.md",
    "docs/own_kernel.md",
    "docs/python_library.md",
)
_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)(?P=fence)$", re.DOTALL | re.MULTILINE
)
_INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n)+")
_INLINE = re.compile(r"`([^`]+)`")
# How a line starts that a reader types.
_PROGRAMS = (
    r"(?:[A-Z_0-9]+=\S+ )*(?:(?:\.\./rules_executorch/)?tools/bazel|bazel|tools/check|tools/sanitize|\.ci/run"
    r"|bazel-bin/\S+|cat|export(?= [A-Z]))(?= |$)"
)
_COMMAND = re.compile(_PROGRAMS)
# A paragraph that starts with a file's name, or ends with the name.
_FILE = re.compile(
    r"(?:^|.*[.:]\s)`(?P<name>[\w./-]+\.\w+)`(?: gets these lines)?:$|`(?P<first>[\w./-]+\.\w+)`", re.DOTALL
)


@dataclasses.dataclass(frozen=True)
class Block:
    """Code between fences, or indented.

    Attributes:
        line: of the page, of the code's first line.
        language: what stands after the fence.
        text: the code, without the page's indent.
        before: the paragraph that ends above the code.
    """

    line: int
    language: str
    text: str
    before: str


@dataclasses.dataclass(frozen=True)
class Command:
    """What a reader types, and what the page shows of the answer."""

    line: int
    text: str
    output: str


def _lines_before(text: str, position: int) -> int:
    return text.count("\n", 0, position)


def blocks(text: str) -> list[Block]:
    """All code of a page, in order."""
    found = []
    for match in _FENCE.finditer(text):
        code = "".join(line.removeprefix(match["indent"]) for line in match["text"].splitlines(keepends=True))
        before = text[: match.start()].rstrip("\n").rpartition("\n\n")[2]
        found.append(Block(_lines_before(text, match.start()) + 2, match["language"], code, before))
    prose = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in _INDENTED.finditer(prose):
        code = "".join(line[4:] for line in match[0].splitlines(keepends=True))
        if _COMMAND.match(code.removeprefix("$ ")):
            found.append(Block(_lines_before(prose, match.start()) + 1, "", code, ""))
    return sorted(found, key=lambda block: block.line)


def files(text: str) -> dict[str, str]:
    """The files of a page: a paragraph names one at its start or end, and the code is below the paragraph.

    A name that comes again adds to its file.
    """
    found: dict[str, str] = {}
    for block in blocks(text):
        match = _FILE.match(block.before)
        if match and block.language:
            name = match["name"] or match["first"]
            found[name] = f"{found[name]}\n{block.text}" if name in found else block.text
    return found


def of_block(block: Block) -> list[Command]:
    """The commands of a block."""
    prompts = any(line.startswith("$ ") for line in block.text.splitlines())
    commands: list[Command] = []
    goes_on = False
    for number, line in enumerate(block.text.splitlines(), block.line):
        typed = line.removeprefix("$ ")
        if goes_on:
            last = commands.pop()
            commands.append(Command(last.line, f"{last.text.removesuffix(chr(92)).rstrip()} {line.strip()}", ""))
        elif line.startswith("$ ") or (not prompts and _COMMAND.match(line)):
            commands.append(Command(number, typed, ""))
        elif commands and prompts:
            last = commands.pop()
            commands.append(dataclasses.replace(last, output=f"{last.output}{line}\n"))
        goes_on = bool(commands) and commands[-1].text.endswith("\\")
    # A comment after a command.
    return [dataclasses.replace(command, text=re.sub(r"\s+# .*", "", command.text)) for command in commands]


def commands(text: str) -> list[Command]:
    """All that a reader can run: blocks of commands, and commands within the text."""
    found = [command for block in blocks(text) if block.language in ("", "sh") for command in of_block(block)]
    prose = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in _INLINE.finditer(prose):
        typed = " ".join(match[1].split())
        if re.match(rf"{_PROGRAMS} \S+ \S", typed):
            found.append(Command(_lines_before(prose, match.start()) + 1, typed, ""))
    return sorted(found, key=lambda command: command.line)


def links(text: str) -> list[str]:
    """The files and folders of the repository that a page links to, as written."""
    targets = re.findall(r"\]\(([^()\s]+)\)", _FENCE.sub("", text))
    return [target.partition("#")[0] for target in targets if "://" not in target and not target.startswith("#")]
