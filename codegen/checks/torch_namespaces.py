"""Checks that operator libraries define only their own namespaces, and no namespace twice with TORCH_LIBRARY."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.model import torch_schemas
from codegen.model.torch_library import IMPL, LIBRARY, TorchLibrary
from diagnostics.errors import Finding


def mistakes(label: str, manifests: Sequence[TorchLibrary]) -> list[Finding]:
    """Returns a finding for each mistake for which PyTorch would abort a process that loads the libraries.

    Args:
        label: the label of the target that loads the libraries.
        manifests: the manifests of the libraries, each once.
    """
    return [finding for manifest in manifests for finding in _reserved(manifest)] + duplicates(label, manifests)


def _reserved(manifest: TorchLibrary) -> list[Finding]:
    return [
        Finding(
            id="reserved-namespace",
            where=registration.location or manifest.label,
            found=f"{registration.namespace} is a namespace of PyTorch itself, in which it alone defines operators",
            cause="the operator was meant to replace or to stand beside one of PyTorch's",
            fix=f"choose a namespace of your own; to give an operator of PyTorch another kernel, write "
            f"TORCH_LIBRARY_IMPL({registration.namespace}, <dispatch key>, m)",
        )
        for registration in manifest.registrations
        if registration.kind != IMPL and registration.namespace in torch_schemas.RESERVED_NAMESPACES
    ]


def duplicates(label: str, manifests: Sequence[TorchLibrary]) -> list[Finding]:
    """Returns a finding for each namespace that libraries define more than once with TORCH_LIBRARY.

    Args:
        label: the label of the target that loads the libraries.
        manifests: the manifests of the libraries, each once.
    """
    places: dict[str, list[str]] = {}
    for manifest in manifests:
        for registration in manifest.registrations:
            if registration.kind == LIBRARY:
                places.setdefault(registration.namespace, []).append(manifest.place(registration))
    return [duplicate(label, name, defined) for name, defined in sorted(places.items()) if len(defined) > 1]


def duplicate(label: str, namespace: str, places: Sequence[str]) -> Finding:
    """Returns the finding for several places, in libraries that `label` loads, which define one namespace."""
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
