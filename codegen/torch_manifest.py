"""<library>.torch.json: which namespaces of PyTorch's dispatcher an operator library registers in, and where."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.errors import CodegenError, Finding, Location

# What a TORCH_LIBRARY macro does: define a namespace as a whole, add operators to one, add kernels to operators.
LIBRARY, FRAGMENT, IMPL = "library", "fragment", "impl"


@dataclass(frozen=True, slots=True)
class Registration:
    """One use of a TORCH_LIBRARY macro.

    Attributes:
        kind: LIBRARY, FRAGMENT or IMPL.
        namespace: the namespace.
        dispatch_key: of IMPL, whose kernels they are.
        location: where a source has the macro; None if another macro or a library linked in brings it.
    """

    kind: str
    namespace: str
    dispatch_key: str = ""
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class TorchManifest:
    """What one library registers.

    Attributes:
        label: the library's label.
        registrations: every use of a macro.
    """

    label: str
    registrations: tuple[Registration, ...]

    def namespaces(self) -> list[str]:
        """The namespaces that it defines, as a whole or a part; if none, those whose operators it has kernels for."""
        defined = sorted({r.namespace for r in self.registrations if r.kind != IMPL})
        return defined or sorted({r.namespace for r in self.registrations})

    def place(self, registration: Registration) -> str:
        """Where a registration is, for a message."""
        return f"{self.label} ({registration.location})" if registration.location else self.label


def write(manifest: TorchManifest, path: str) -> None:
    """Writes a manifest; equal manifests give equal bytes."""
    content = {
        "label": manifest.label,
        "namespaces": manifest.namespaces(),
        "registrations": [
            {
                "kind": r.kind,
                "namespace": r.namespace,
                "dispatch_key": r.dispatch_key,
                "location": [r.location.path, r.location.line, r.location.column] if r.location else None,
            }
            for r in manifest.registrations
        ],
    }
    Path(path).write_text(json.dumps(content, indent=1) + "\n")


def read(path: str) -> TorchManifest:
    """Reads a manifest that `codegen torch_library` wrote.

    Raises:
        CodegenError: the file is not a manifest.
    """
    try:
        content = json.loads(Path(path).read_text())
        registrations = tuple(
            Registration(
                r["kind"], r["namespace"], r["dispatch_key"], Location(*r["location"]) if r["location"] else None
            )
            for r in content["registrations"]
        )
        return TorchManifest(content["label"], registrations)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CodegenError(
            Finding(
                id="not-a-torch-manifest",
                where=path,
                found=f"not a manifest of an operator library: {type(error).__name__}: {error}",
                cause="another file was given, or one that another version of the code generator wrote",
                fix="give the .torch.json of a torch_op_library",
            )
        ) from error


def duplicates(label: str, manifests: Sequence[TorchManifest]) -> list[Finding]:
    """One finding for each namespace that is defined as a whole more than once, in whichever library.

    Args:
        label: of what loads the libraries.
        manifests: of the libraries, each once.
    """
    places: dict[str, list[str]] = {}
    for manifest in manifests:
        for registration in manifest.registrations:
            if registration.kind == LIBRARY:
                places.setdefault(registration.namespace, []).append(manifest.place(registration))
    return [duplicate(label, name, defined) for name, defined in sorted(places.items()) if len(defined) > 1]


def duplicate(label: str, namespace: str, places: Sequence[str]) -> Finding:
    """The finding that the places, of what `label` loads, define one namespace."""
    return Finding(
        id="duplicate-namespace",
        where=label,
        found=f"the namespace {namespace} is defined {len(places)} times; loading the second definition would abort "
        "the process, which Python cannot catch",
        cause="each of them uses TORCH_LIBRARY, of which a process may have one for a namespace",
        fix=f"leave TORCH_LIBRARY({namespace}, m) in one of them and write TORCH_LIBRARY_FRAGMENT({namespace}, m) in "
        "the others, or use a namespace of its own for each library",
        details=tuple(places),
    )
