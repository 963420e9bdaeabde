"""Checks that operator libraries can be loaded into one process: no namespace of PyTorch is defined by two of them.

    codegen torch_check --label //app:ops --manifest a.torch.json --manifest b.torch.json --output report.txt

Writes a report of the namespaces and of what defines them.
"""

from __future__ import annotations

from pathlib import Path

from absl import flags

from codegen import command_line, torch_manifest
from codegen.errors import CodegenError

FLAGS = command_line.flag_values()

_LABEL = flags.DEFINE_string("label", None, "The label of what loads them.", required=True, flag_values=FLAGS)
_MANIFESTS = flags.DEFINE_multi_string("manifest", [], "The .torch.json of an operator library.", flag_values=FLAGS)
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the report.", required=True, flag_values=FLAGS)


def run() -> None:
    manifests = [torch_manifest.read(path) for path in _MANIFESTS.value]
    findings = torch_manifest.duplicates(_LABEL.value, manifests)
    if findings:
        raise CodegenError(findings)
    lines = [
        f"{registration.namespace}: {registration.kind}{registration.dispatch_key and ' ' + registration.dispatch_key}"
        f" of {manifest.place(registration)}\n"
        for manifest in manifests
        for registration in manifest.registrations
    ]
    Path(_OUTPUT.value).write_text("What the operator libraries register with PyTorch:\n" + "".join(sorted(lines)))
