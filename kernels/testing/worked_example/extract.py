"""Cuts the files of CONTRIBUTING.md's worked example of an operator out of it.

    extract CONTRIBUTING.md OUTPUT...

Each output has the name of a file that an item of the list names first.
"""

import re
import sys
import textwrap
from pathlib import Path

_SECTION = re.compile(r"^### An operator to `kernels/portable`$(.*?)^### ", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^\d+\. `([^`]+)`(?:(?!^\d+\. ).)*?^   ```\w+\n(.*?)^   ```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    document, *outputs = map(Path, sys.argv[1:])
    section = _SECTION.search(document.read_text())
    assert section, f"{document} has no worked example"
    files = {Path(name).name: textwrap.dedent(text) for name, text in _FILE.findall(section[1])}
    for output in outputs:
        output.write_text(files.pop(output.name))
    assert not files, f"nobody asks for {sorted(files)}"


if __name__ == "__main__":
    main()
