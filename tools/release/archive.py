"""Writes the archive of a version, which users of this module download. The bytes are the same on all machines.

tools/bazel build //tools/release:archive    # bazel-bin/tools/release/rules_executorch.tar.gz
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

_OUTPUT = flags.DEFINE_string("output", "rules_executorch.tar.gz", "The archive to write.")


def write(files: Sequence[Path], output: Path) -> None:
    """Archives files under their paths, sorted, without times and owners."""
    with (
        output.open("wb") as raw,
        gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as zipped,
        tarfile.open(mode="w", fileobj=zipped, format=tarfile.PAX_FORMAT) as archive,
    ):
        for file in sorted(files):
            content = file.read_bytes()
            member = tarfile.TarInfo(str(file))
            member.size = len(content)
            member.mode = 0o755 if content.startswith(b"#!") else 0o644
            archive.addfile(member, io.BytesIO(content))


def main(argv: Sequence[str]) -> None:
    write([Path(file) for file in argv[1:]], Path(_OUTPUT.value))


if __name__ == "__main__":
    app.run(main)
