"""Checks the kernels that a binary registers against each other and against the runtime's registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codegen.artifacts.selective_build import SelectiveBuild
from codegen.model import kernel_keys, prim_ops
from codegen.model.operators import Operator
from diagnostics.errors import Finding

# The provider of the runtime's own operators, for messages.
RUNTIME = "the runtime"


@dataclass(frozen=True, slots=True)
class RegisteredKernel:
    """A kernel that a binary registers when it starts.

    Attributes:
        operator: the operator's full name.
        key: the kernel key; `default` for a kernel of all dtypes and dim orders.
        library: the label of the library that registers the kernel.
        place: the place of the registration in a source; empty if unknown.
        is_whole: whether the library is linked whole, so that the linker cannot drop the registration.
    """

    operator: str
    key: str
    library: str
    place: str = ""
    is_whole: bool = True

    def __str__(self) -> str:
        return f"{self.library} ({self.place})" if self.place else self.library


def of_runtime() -> Iterator[RegisteredKernel]:
    """Yields the kernels of the runtime's own operators."""
    for name in sorted(prim_ops.PRIM_OPS):
        yield RegisteredKernel(name, kernel_keys.DEFAULT, RUNTIME)


def of_library(label: str, operators: Sequence[Operator]) -> Iterator[RegisteredKernel]:
    """Yields the kernels that a generated library registers.

    Args:
        label: the library's label.
        operators: the library's operators.
    """
    for operator in operators:
        for kernel in operator.kernels:
            for key in kernel.keys:
                yield RegisteredKernel(operator.name, key, label, str(kernel.location))


def registered_twice(label: str, registrations: Sequence[RegisteredKernel]) -> list[Finding]:
    """Returns a finding for each group of libraries that register the same kernels.

    Args:
        label: the binary's label.
        registrations: the kernels that the binary registers.
    """
    by_kernel: dict[tuple[str, str], list[RegisteredKernel]] = {}
    for registration in registrations:
        by_kernel.setdefault((registration.operator, registration.key), []).append(registration)
    by_libraries: dict[tuple[str, ...], list[str]] = {}
    for (operator, key), of_kernel in sorted(by_kernel.items()):
        if len(of_kernel) > 1:
            kernel = operator if key == kernel_keys.DEFAULT else f"{operator} for {key}"
            places = " and by ".join(str(registration) for registration in of_kernel)
            libraries = tuple(sorted({registration.library for registration in of_kernel}))
            by_libraries.setdefault(libraries, []).append(f"{kernel}: by {places}")
    return [
        Finding(
            id="registered-twice",
            where=label,
            found=f"{len(kernels)} {'kernel is' if len(kernels) == 1 else 'kernels are'} registered more than once, by "
            f"{' and '.join(libraries)}; the binary would abort when it starts",
            cause="two libraries of the binary select the same operators",
            fix="leave each operator in the selection of one library, or depend on one of the libraries only",
            details=tuple(kernels),
        )
        for libraries, kernels in by_libraries.items()
    ]


def built_twice(label: str, builds: Sequence[SelectiveBuild]) -> list[Finding]:
    """Returns a finding for each group of libraries that compile the same kernels for their own dtypes.

    Args:
        label: the binary's label.
        builds: the dtype-selective builds that the binary links.
    """
    by_source: dict[str, list[str]] = {}
    for build in builds:
        for source in build.kernel_sources:
            by_source.setdefault(source, []).append(build.label)
    by_libraries: dict[tuple[str, ...], list[str]] = {}
    for source, libraries in sorted(by_source.items()):
        if len(libraries) > 1:
            by_libraries.setdefault(tuple(sorted(libraries)), []).append(source)
    return [
        Finding(
            id="built-twice",
            where=label,
            found=f"{' and '.join(libraries)} build the same kernels for different dtypes, and a binary can link each "
            "kernel once only",
            cause="two libraries with dtype_selective_build have operators that a file implements together",
            fix="give one library both selections, or have the operators of one file in one of the libraries only",
            details=tuple(sources),
        )
        for libraries, sources in by_libraries.items()
    ]


def too_many(label: str, registrations: Sequence[RegisteredKernel], max_kernels: int) -> list[Finding]:
    """Returns a finding if a binary registers more kernels than the capacity of the runtime's registry.

    Args:
        label: the binary's label.
        registrations: the kernels that the binary registers.
        max_kernels: the capacity of the registry.
    """
    if len(registrations) <= max_kernels:
        return []
    counts: dict[str, int] = {}
    for registration in registrations:
        counts[registration.library] = counts.get(registration.library, 0) + 1
    return [
        Finding(
            id="too-many-kernels",
            where=label,
            found=f"{len(registrations)} kernels are registered, but the runtime's registry holds {max_kernels}"
            "; the binary would abort when it starts",
            cause="a library registers more than the program needs, such as include_all_operators does",
            fix="select only the operators that the program needs, or build the runtime with a larger MAX_KERNEL_NUM "
            "and give it as max_kernels of its toolchain",
            details=tuple(f"{count} by {library}" for library, count in sorted(counts.items())),
        )
    ]
