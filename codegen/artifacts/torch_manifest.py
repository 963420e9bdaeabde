"""<library>.torch.json: the namespaces of PyTorch's dispatcher in which an operator library registers, with places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from codegen.artifacts import json_file
from codegen.model.torch_library import TorchLibrary, TorchRegistration
from diagnostics.errors import Location

_FORMAT = json_file.Format(".torch.json", "what an operator library registers", "a torch_op_library")


def write(library: TorchLibrary, path: str) -> None:
    """Writes a manifest. Equal manifests give equal bytes."""
    content = {
        "label": library.label,
        "namespaces": library.namespaces(),
        "registrations": [
            {
                "kind": r.kind,
                "namespace": r.namespace,
                "dispatch_key": r.dispatch_key,
                "location": [r.location.path, r.location.line, r.location.column] if r.location else None,
            }
            for r in library.registrations
        ],
    }
    Path(path).write_text(json.dumps(content, indent=1) + "\n")


def read(path: str) -> TorchLibrary:
    """Reads a manifest that `codegen torch_library` wrote.

    Raises:
        InputError: the file is not a manifest.
    """
    return json_file.read(path, _FORMAT, _parse)


def _parse(content: Any) -> TorchLibrary:
    registrations = tuple(
        TorchRegistration(
            entry["kind"],
            entry["namespace"],
            entry["dispatch_key"],
            Location(*entry["location"]) if entry["location"] else None,
        )
        for entry in content["registrations"]
    )
    return TorchLibrary(content["label"], registrations)
