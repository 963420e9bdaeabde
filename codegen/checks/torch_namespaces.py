"""Checks that no namespace of PyTorch's dispatcher is defined as a whole by two operator libraries."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.model.torch_library import LIBRARY, TorchLibrary
from diagnostics.errors import Finding


def duplicates(label: str, manifests: Sequence[TorchLibrary]) -> list[Finding]:
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
