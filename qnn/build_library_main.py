"""Compiles the library of an op package. The file has the registered name of the package."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from diagnostics.errors import Finding

_LABEL = flags.DEFINE_string("label", None, "The label of the library.", required=True)
_REGISTRATION = flags.DEFINE_string("registration", None, "The registration of the package.", required=True)
_ROLE = flags.DEFINE_string("role", None, "<target>.<platform> of the library.", required=True)
_SDK_BUILD_ID = flags.DEFINE_string("sdk_build_id", "", "The build id of the SDK.")
_COMPILER = flags.DEFINE_string("compiler", None, "The compiler.", required=True)
_COMPILE_FLAGS = flags.DEFINE_multi_string("compile_flag", [], "A flag to compile with.")
_LINK_FLAGS = flags.DEFINE_multi_string("link_flag", [], "A flag to link with.")
_SOURCES = flags.DEFINE_multi_string("src", None, "The interface, then the ops.", required=True)
_ASSEMBLY = flags.DEFINE_multi_string("asm_src", [], "A source in assembly for the processor.")
_OUTPUT = flags.DEFINE_string("output", None, "Folder to write to.", required=True)


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    registration = json.loads(Path(_REGISTRATION.value).read_text())
    package = registration["package"]
    if len(_SOURCES.value) == 1:
        finding = Finding(
            _LABEL.value,
            f"attribute op_srcs of the package {package} is empty",
            "the sources are not written yet",
            "run <name>.skeleton of the qnn_op_package, complete the sources, and name them in op_srcs",
            id="op-without-source",
        )
        print(finding, file=sys.stderr)
        return 1
    (file,) = (
        each["file"] for each in registration["libraries"] if f"{each['target']}.{each['platform']}" == _ROLE.value
    )
    folder = Path(_OUTPUT.value)
    folder.mkdir(parents=True, exist_ok=True)
    command = [_COMPILER.value, *_COMPILE_FLAGS.value, f"-DTHIS_PKG_NAME={package}", "-shared"]
    sources = [*_SOURCES.value, *_ASSEMBLY.value]
    compiled = subprocess.run([*command, *sources, "-o", str(folder / file), *_LINK_FLAGS.value])
    if compiled.returncode:
        return compiled.returncode
    sdk = {"package": package, "library": file, "role": _ROLE.value, "sdk_build_id": _SDK_BUILD_ID.value}
    (folder / "sdk.json").write_text(json.dumps(sdk, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    app.run(main)
