"""Cuts the files of a worked example out of CONTRIBUTING.md.

    extract SECTION CONTRIBUTING.md OUTPUT...

The section is the text of a heading. Each output has the name of a file that an item of the section's list names first.
"""

import re
import sys
import textwrap
from pathlib import Path

_FILE = re.compile(r"^\d+\. `([^`]+)`(?:(?!^\d+\. ).)*?^   ```\w+\n(.*?)^   ```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    heading, document, *outputs = sys.argv[1:]
    section = Path(document).read_text().partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
    assert section, f"{document} has no section {heading}"
    files = {Path(name).name: textwrap.dedent(text) for name, text in _FILE.findall(section + "\n")}
    for output in map(Path, outputs):
        output.write_text(files.pop(output.name))
    assert not files, f"nobody asks for {sorted(files)}"


if __name__ == "__main__":
    main()
