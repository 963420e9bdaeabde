"""Reads the XML of an op package. Writes its content as JSON, the source of the interface, and the registration."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from diagnostics.errors import InputError
from qnn import package_files
from qnn.opdef import model
from qnn.registration import registration
from qnn.skeleton import sources

_XML = flags.DEFINE_multi_string("xml", None, "An XML file of the package. May be given several times.", required=True)
_LABEL = flags.DEFINE_string("label", None, "The label of the package.", required=True)
_BACKEND = flags.DEFINE_enum("backend", "HTP", sources.BACKENDS, "The backend that the sources are for.")
_SOURCES = flags.DEFINE_multi_string("op_src", [], "An op that has a source. May be given several times.")
_JSON = flags.DEFINE_string("json", None, "Where to write the JSON.", required=True)
_TORCH_OPS = flags.DEFINE_multi_string(
    "torch_op", [], "<op>=<operator>: the operator of PyTorch's that an op computes."
)
_DEVICE_DIR = flags.DEFINE_string("device_dir", None, "Folder of a device with the libraries.", required=True)
_REGISTRATION = flags.DEFINE_string("registration", None, "Where to write the registration, as JSON.", required=True)
_MODULE = flags.DEFINE_string("module", None, "Where to write the registration, as a Python module.")
_INTERFACE = flags.DEFINE_string("interface", None, "Where to write the interface.", required=True)


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    try:
        package, op_defs = package_files.read(_XML.value, _BACKEND.value, _LABEL.value)
        for name in _SOURCES.value:
            package_files.op(package, name, _LABEL.value, "op_srcs")
        package_files.check_sources(op_defs, _SOURCES.value, _LABEL.value)
        torch_ops = dict(text.split("=", 1) for text in _TORCH_OPS.value)
        for name in torch_ops:
            package_files.op(package, name, _LABEL.value, "torch_ops")
        registered = registration.make(package, _BACKEND.value, torch_ops, _DEVICE_DIR.value, _LABEL.value)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    Path(_JSON.value).write_text(json.dumps(model.to_json(package), indent=2) + "\n")
    interface = sources.interface(_BACKEND.value, package, op_defs, package_files.short_names(_XML.value))
    Path(_INTERFACE.value).write_text(interface)
    Path(_REGISTRATION.value).write_text(registration.to_json(registered))
    if _MODULE.value:
        Path(_MODULE.value).write_text(registration.module(registered, _LABEL.value))
    return 0


if __name__ == "__main__":
    app.run(main)
