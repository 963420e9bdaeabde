"""What an operator library registers with PyTorch: namespaces of the dispatcher, by the TORCH_LIBRARY macros."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.errors import Location

# What a TORCH_LIBRARY macro does: define a namespace as a whole, add operators to one, add kernels to operators.
LIBRARY, FRAGMENT, IMPL = "library", "fragment", "impl"


@dataclass(frozen=True, slots=True)
class TorchRegistration:
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
class TorchLibrary:
    """What one library registers.

    Attributes:
        label: the library's label.
        registrations: every use of a macro.
    """

    label: str
    registrations: tuple[TorchRegistration, ...]

    def namespaces(self) -> list[str]:
        """The namespaces that it defines, as a whole or a part; if none, those whose operators it has kernels for."""
        defined = sorted({r.namespace for r in self.registrations if r.kind != IMPL})
        return defined or sorted({r.namespace for r in self.registrations})

    def place(self, registration: TorchRegistration) -> str:
        """Where a registration is, for a message."""
        return f"{self.label} ({registration.location})" if registration.location else self.label
