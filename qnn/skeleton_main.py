"""Writes the sources of an op package into the source tree: the interface, and each op for the user to complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from diagnostics.errors import InputError
from qnn import package_files
from qnn.skeleton import files, sources

_XML = flags.DEFINE_multi_string("xml", None, "An XML file of the package. May be given several times.", required=True)
_LABEL = flags.DEFINE_string("label", None, "The label of the package.", required=True)
_BACKEND = flags.DEFINE_enum("backend", "HTP", sources.BACKENDS, "The backend that the sources are for.")
_FOLDER = flags.DEFINE_string("folder", "", "Folder of the source tree to write to.")
_SOURCES = flags.DEFINE_multi_string("op_src", [], "<op>=<file>: the file of an op. Default: <op>.cpp.")
_OVERWRITE = flags.DEFINE_bool("overwrite", False, "Replace files that have another text.")


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    try:
        package, op_defs = package_files.read(_XML.value, _BACKEND.value, _LABEL.value)
        named = dict(text.split("=", 1) for text in _SOURCES.value)
        for name in named:
            package_files.op(package, name, _LABEL.value, "op_srcs")
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    xml_names = package_files.short_names(_XML.value)
    written = {f"{package.name}Interface.cpp": sources.interface(_BACKEND.value, package, op_defs, xml_names)}
    for op_def in op_defs:
        written[named.get(op_def.name, f"{op_def.name}.cpp")] = sources.op(_BACKEND.value, package, op_def)
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), _FOLDER.value)
    print(files.write(root, written, _OVERWRITE.value), end="")
    return 0


if __name__ == "__main__":
    app.run(main)
