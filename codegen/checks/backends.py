"""Checks that a binary registers the backends that its program delegates to, and that its libraries declare."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from diagnostics.errors import Finding

# The targets of the backends in the executorch wheel, by the backends' names in programs.
_PREBUILT = {
    "OpenvinoBackend": "@rules_executorch//runtime:backend_openvino",
    "QnnBackend": "@rules_executorch//runtime:backend_qnn",
    "XnnpackBackend": "@rules_executorch//runtime:backend_xnnpack",
}


@dataclass(frozen=True, slots=True)
class Linked:
    """The registration of a backend in a linked library.

    Attributes:
        library: the label of the library.
        is_whole: whether the library is linked whole, as with `alwayslink`.
    """

    library: str
    is_whole: bool


def missing(program: str, names: Collection[str], linked: Collection[str], label: str) -> list[Finding]:
    """Returns a finding for each backend that a program delegates to and no linked file registers.

    Args:
        program: the program's label.
        names: the backends that the program delegates to.
        linked: the backends that a linked file registers.
        label: the binary's label.
    """
    return [
        Finding(
            id="missing-backend",
            where=program,
            found=f"the program delegates to {name}, which nothing that {label} links registers",
            cause="the backend's library was left out, or the program was exported for another device",
            fix=f"add {_PREBUILT.get(name, f'the executorch_backend that has {name}')} to deps of {label}, or export "
            "the model without the backend's partitioner",
        )
        for name in sorted(set(names) - set(linked))
    ]


def without_code(declared: Mapping[str, str], linked: Collection[str]) -> list[Finding]:
    """Returns a finding for each backend that a library declares and no linked file registers.

    Args:
        declared: the label of the declaring library, by the backend's name.
        linked: the backends that a linked file registers.
    """
    return [
        Finding(
            id="backend-without-code",
            where=declared[name],
            found=f"backend_ids has {name}, which no file that is linked registers",
            cause="the library's code gives another name to register_backend(), or is in another library",
            fix="correct backend_ids, or library, of the executorch_backend",
        )
        for name in sorted(set(declared) - set(linked))
    ]


def left_out(linked: Mapping[str, Linked]) -> list[Finding]:
    """Returns a finding for each backend whose registration the linker drops.

    Args:
        linked: the registrations, by the backends' names.
    """
    return [
        Finding(
            id="registration-left-out",
            where=linked[name].library,
            found=f"the backend {name} is registered by {linked[name].library}, which is not linked whole",
            cause="nothing refers to the registration of a backend, so the linker leaves its file out",
            fix=f"set alwayslink = True in {linked[name].library}",
        )
        for name in sorted(linked)
        if not linked[name].is_whole
    ]
