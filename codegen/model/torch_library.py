"""An operator library's registrations with PyTorch's dispatcher, by the TORCH_LIBRARY macros."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.errors import Location

# The kinds of macros: define a namespace (TORCH_LIBRARY), add operators to a namespace (TORCH_LIBRARY_FRAGMENT), or
# add kernels to operators (TORCH_LIBRARY_IMPL).
LIBRARY, FRAGMENT, IMPL = "library", "fragment", "impl"


@dataclass(frozen=True, slots=True)
class TorchRegistration:
    """One use of a TORCH_LIBRARY macro.

    Attributes:
        kind: LIBRARY, FRAGMENT or IMPL.
        namespace: the namespace.
        dispatch_key: for IMPL, the dispatch key of the kernels.
        location: the place of the macro in a source; None if another macro or a linked library contains it.
    """

    kind: str
    namespace: str
    dispatch_key: str = ""
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class TorchLibrary:
    """The registrations of one library.

    Attributes:
        label: the library's label.
        registrations: all uses of a macro.
    """

    label: str
    registrations: tuple[TorchRegistration, ...]

    def namespaces(self) -> list[str]:
        """Returns the namespaces with operators of the library; without operators, the namespaces of its kernels."""
        defined = sorted({r.namespace for r in self.registrations if r.kind != IMPL})
        return defined or sorted({r.namespace for r in self.registrations})

    def place(self, registration: TorchRegistration) -> str:
        """Returns the place of a registration, for messages."""
        return f"{self.label} ({registration.location})" if registration.location else self.label
