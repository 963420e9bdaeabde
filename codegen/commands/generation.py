"""What `generate` and `generate_torch` share: flags, the choice of operators, and the sources that call kernels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from absl import flags

from codegen.artifacts import registered_operators
from codegen.commands import define, shared_flags
from codegen.cpp import aten_calls, boxed_calls, native_functions_header, typed_kernels
from codegen.cpp.boxed_kernel import BoxedKernel, boxed_kernels
from codegen.cpp.source import Source
from codegen.inputs import functions_yaml, selected_operators
from codegen.model import selection
from codegen.model.operators import Operator


@dataclass(frozen=True)
class Inputs:
    """Where the operators of a library come from. All files are paths.

    Attributes:
        label: the label of the library.
        functions_yaml: the kernels of PyTorch's own operators.
        custom_ops_yaml: the schemas and kernels of custom operators.
        aten_custom_ops_yaml: the same, of kernels that take at::Tensor.
        fallback_yaml: the kernels of operators that functions_yaml does not have.
        aten_fallback_yaml: the schemas and kernels that take at::Tensor, for operators that no other YAML has.
        all_kernel_yamls: the YAMLs that libraries of kernels bring along.
        declared: the operators that C++ declares, of `codegen collect`.
        selections: the selections, which are united.
        max_kernels: the capacity of the runtime's registry.
    """

    label: str
    functions_yaml: str | None
    custom_ops_yaml: str | None
    aten_custom_ops_yaml: str | None
    fallback_yaml: str | None
    aten_fallback_yaml: str | None
    all_kernel_yamls: Sequence[str]
    declared: Sequence[str]
    selections: Sequence[str]
    max_kernels: int

    @property
    def named_yamls(self) -> list[str]:
        """The YAMLs that attributes of the rule name."""
        yamls = (self.functions_yaml, self.fallback_yaml, self.custom_ops_yaml, self.aten_custom_ops_yaml)
        return [yaml for yaml in yamls if yaml is not None]

    @property
    def kernel_yamls(self) -> list[str]:
        """The YAMLs that only libraries of kernels bring along."""
        return [path for path in self.all_kernel_yamls if path not in self.named_yamls]

    @property
    def files(self) -> list[str]:
        """The names of the files that the target itself gives."""
        return [Path(path).name for path in (*self.named_yamls, *self.declared)]

    def wanted(self) -> selection.Selection:
        """Returns the union of the selections."""
        return selection.unite([selected_operators.read(path) for path in self.selections])

    def given(self, wanted: selection.Selection) -> Mapping[str, Operator]:
        """Reads the operators of all files.

        If the target gives files and selects all operators, these are the operators of its files, plus the selected
        operators of the YAMLs of kernel libraries.
        """
        given = functions_yaml.read(
            self.functions_yaml,
            self.custom_ops_yaml,
            self.fallback_yaml,
            aten_custom_ops_yaml=self.aten_custom_ops_yaml,
            aten_fallback_yaml=self.aten_fallback_yaml,
            declarations=self.declared,
            kernel_yamls=self.kernel_yamls,
            max_kernels=self.max_kernels,
        )
        if self.files and wanted.include_all:
            return _without_unnamed(given, wanted.operators, self.kernel_yamls)
        return given

    def source(self, operators: Sequence[Operator], providers: Sequence[str]) -> Source:
        """Returns the head of generated files: the label, and the files that the operators come from."""
        used = {operator.location.path for operator in operators}
        return Source(self.label, (*providers, *dict.fromkeys(Path(p).name for p in self.kernel_yamls if p in used)))


def _without_unnamed(
    given: Mapping[str, Operator], named: Collection[str], kernel_yamls: Collection[str]
) -> Mapping[str, Operator]:
    return {
        name: operator
        for name, operator in given.items()
        if operator.location.path not in kernel_yamls or name in named or name.partition(".")[0] in named
    }


@dataclass(frozen=True)
class Outputs:
    """Where to write what all libraries have.

    Attributes:
        boxed_kernels: the directory for the sources that call the kernels beyond those of the table.
        aten_source: the source that calls the kernels that take at::Tensor, if there are such kernels.
        kernel_table: the source that calls the kernels and has the table of them.
        native_functions: the header that declares the kernels.
        typed_kernels: the header that declares the kernels for the processor's instruction set, if the library has
            kernels for several sets.
        manifest: the operators and their kernels, as JSON.
    """

    boxed_kernels: str
    aten_source: str | None
    kernel_table: Path
    native_functions: Path
    typed_kernels: Path | None
    manifest: str

    @property
    def header(self) -> Path:
        """The header through which the library's own sources call the kernels."""
        return self.typed_kernels or self.native_functions


@dataclass(frozen=True)
class Calls:
    """The kernels that a library calls.

    Attributes:
        all: all kernels.
        of_table: those that the source of the table calls. Sources of their own call the others.
        taking_aten: those that take at::Tensor.
    """

    all: Sequence[BoxedKernel]
    of_table: Sequence[BoxedKernel]
    taking_aten: Sequence[BoxedKernel]


class Flags:
    """The flags of both commands.

    Args:
        values: the flags of the command.
    """

    def __init__(self, values: flags.FlagValues) -> None:
        self._label = shared_flags.label(values, "the library")
        self._max_kernels = shared_flags.max_kernels(values)
        self._selections = shared_flags.selections(values)
        self._custom_ops_yaml = define.optional(
            values, "custom_ops_yaml", "The schemas and kernels of custom operators, custom_ops.yaml."
        )
        self._aten_custom_ops_yaml = define.optional(
            values, "aten_custom_ops_yaml", "As --custom_ops_yaml, of kernels that take at::Tensor."
        )
        self._declared = define.several(
            values, "declared_operators", "The operators that C++ declares, of 'codegen collect'."
        )
        self._boxed_kernels = define.required(
            values,
            "boxed_kernels",
            "The directory for the sources that call the kernels beyond those of --kernel_table.",
        )
        self._aten_source = define.optional(
            values, "aten_source", "Where to write the source that calls the kernels that take at::Tensor."
        )
        self._kernel_table = define.required(
            values, "kernel_table", "Where to write the source that calls the kernels and has the table of them."
        )
        self._native_functions = define.required(
            values, "native_functions", "Where to write the header that declares the kernels."
        )
        self._manifest = define.required(values, "manifest", "Where to write the operators and their kernels, as JSON.")

    def inputs(
        self,
        *,
        functions_yaml: str | None = None,
        fallback_yaml: str | None = None,
        aten_fallback_yaml: str | None = None,
        kernel_yamls: Sequence[str] = (),
    ) -> Inputs:
        """Returns the values of the flags. The arguments are those of flags that one command has."""
        return Inputs(
            self._label.value,
            functions_yaml,
            self._custom_ops_yaml.value,
            self._aten_custom_ops_yaml.value,
            fallback_yaml,
            aten_fallback_yaml,
            kernel_yamls,
            self._declared.value,
            self._selections.value,
            self._max_kernels.value,
        )

    def outputs(self, *, typed_kernels: Path | None = None) -> Outputs:
        """Returns the values of the flags that name outputs. The argument is that of a flag that one command has."""
        return Outputs(
            self._boxed_kernels.value,
            self._aten_source.value,
            Path(self._kernel_table.value),
            Path(self._native_functions.value),
            typed_kernels,
            self._manifest.value,
        )


def write_calls(source: Source, operators: Sequence[Operator], outputs: Outputs, *, stubs: bool = False) -> Calls:
    """Writes the headers of the kernels, the manifest, and the calls that are not in the source of the table.

    Args:
        source: the head of generated files.
        operators: the operators of the library.
        outputs: where to write.
        stubs: whether the operators have no kernels.
    Returns:
        The kernels.
    """
    kernels = [] if stubs else boxed_kernels(operators)
    taking_aten = [kernel for kernel in kernels if kernel.takes_aten_tensors]
    of_table, *further = boxed_calls.parts([kernel for kernel in kernels if not kernel.takes_aten_tensors])
    has_typed_kernels = outputs.typed_kernels is not None
    boxed_calls.write(source, further, outputs.boxed_kernels, outputs.header, has_typed_kernels=has_typed_kernels)
    if outputs.aten_source is not None:
        Path(outputs.aten_source).write_text(aten_calls.text(source, taking_aten))
    outputs.native_functions.write_text(native_functions_header.text(source, operators))
    if outputs.typed_kernels is not None:
        outputs.typed_kernels.write_text(typed_kernels.header(source, kernels, outputs.native_functions.name))
    library = registered_operators.Library(source.label, source.yaml_names, tuple(operators))
    registered_operators.write(library, outputs.manifest)
    return Calls(kernels, of_table, taking_aten)
