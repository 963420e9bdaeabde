"""Writes the archives of a version: the module, which users download, and its reference. The bytes are the same on all
machines.

tools/bazel build //tools/release:archive //tools/release:docs     # bazel-bin/tools/release/rules_executorch*.tar.gz
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

_TO = flags.DEFINE_string("to", "rules_executorch.tar.gz", "The archive to write.")
_FLAT = flags.DEFINE_bool("flat", False, "Whether the archive has all files in one folder.")


def write(files: Sequence[Path], output: Path, *, flat: bool = False) -> None:
    """Archives files under their paths, or under their names, sorted, without times and owners.

    Bytecode is left out: Python leaves it in a source tree in which it runs.
    """
    members = sorted((file.name if flat else str(file), file) for file in files if "__pycache__" not in file.parts)
    with (
        output.open("wb") as raw,
        gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as zipped,
        tarfile.open(mode="w", fileobj=zipped, format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, file in members:
            content = file.read_bytes()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o755 if content.startswith(b"#!") else 0o644
            archive.addfile(member, io.BytesIO(content))


def main(argv: Sequence[str]) -> None:
    write([Path(file) for file in argv[1:]], Path(_TO.value), flat=_FLAT.value)


if __name__ == "__main__":
    app.run(main)
