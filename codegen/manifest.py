"""registered.json: which operators a generated library registers, with which kernels, for which kernel keys."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen import memory, schema
from codegen.errors import CodegenError, Finding, Location
from codegen.operator_table import Kernel, Operator


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one library registers.

    Attributes:
        label: the library's label.
        yaml_names: the short names of the YAML files it is generated from.
        operators: the operators, sorted by name.
    """

    label: str
    yaml_names: tuple[str, ...]
    operators: tuple[Operator, ...]


def write(manifest: Manifest, path: str) -> None:
    """Writes a manifest; equal manifests give equal bytes."""
    operators = [_operator_to_json(operator) for operator in manifest.operators]
    head = json.dumps({"label": manifest.label, "yaml_names": manifest.yaml_names})
    # One operator on each line, so that two manifests can be compared by eye.
    Path(path).write_text(f'{head[:-1]}, "operators": [\n' + ",\n".join(operators) + "\n]}\n")


@memory.by_content
def read(path: str) -> Manifest:
    """Reads a manifest that `codegen generate` wrote.

    Raises:
        CodegenError: the file is not a manifest.
    """
    try:
        content = json.loads(Path(path).read_text())
        operators = tuple(
            Operator(
                schema=schema.parse(entry["schema"], lambda offset: Location(path)),
                kernels=tuple(
                    Kernel(
                        function=kernel["function"],
                        keys=tuple(kernel["keys"]),
                        location=Location(*kernel["location"]),
                        is_aten=kernel.get("is_aten", False),
                    )
                    for kernel in entry["kernels"]
                ),
                location=Location(*entry["location"]),
            )
            for entry in content["operators"]
        )
        return Manifest(content["label"], tuple(content["yaml_names"]), operators)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CodegenError(
            Finding(
                id="not-a-manifest",
                where=path,
                found=f"not a manifest of registered operators: {type(error).__name__}: {error}",
                cause="another file was given, or one that another version of the code generator wrote",
                fix="give the registered.json that 'codegen generate' writes",
            )
        ) from error


@functools.cache
def _operator_to_json(operator: Operator) -> str:
    return json.dumps(
        {
            "schema": str(operator.schema),
            "location": _location_to_json(operator.location),
            "kernels": [
                {
                    "function": kernel.function,
                    "keys": kernel.keys,
                    "location": _location_to_json(kernel.location),
                    **({"is_aten": True} if kernel.is_aten else {}),
                }
                for kernel in operator.kernels
            ],
        }
    )


def _location_to_json(location: Location) -> Sequence[str | int]:
    return [_path_to_json(location.path), location.line, location.column]


@functools.cache
def _path_to_json(path: str) -> str:
    # An absolute path would make the file differ between machines.
    return Path(path).name if Path(path).is_absolute() else path
