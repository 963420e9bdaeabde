"""A program that runs the samples of an export with a compiled program, and compares the outputs with PyTorch's."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from codegen.compiled import files
from codegen.compiled.constants import Constants
from codegen.compiled.files import Names, Program
from codegen.compiled.findings import uncompilable
from codegen.compiled.method import Method
from codegen.cpp import layout
from codegen.cpp.source import Source
from codegen.inputs.tensor_data_reader import TensorData
from codegen.model.elements import ELEMENTS, Element
from codegen.model.execution_plan import Tensor
from runtime.tolerances.table import TOLERANCES
from runtime.tolerances.tolerance import OUTLIER_MEDIANS, Tolerance

# The kinds of elements in check.h, by the names of dtypes. Elements of other dtypes must be equal.
_KINDS = {"bfloat16": "kBFloat16", "float16": "kHalf", "float32": "kFloat", "float64": "kDouble"}
# The absolute tolerance if only the relative one is given, and the reverse, as in the runner.
_OTHER = 1e-5


@dataclass(frozen=True)
class AskedTolerance:
    """The tolerance that the test asks for. Without any value, the table of tolerances has the tolerance by dtype."""

    atol: float | None = None
    rtol: float | None = None
    min_snr: float | None = None


@dataclass
class CheckProgram:
    """The program.

    Attributes:
        program: the compiled program.
        names: the names in the files of the compiled program.
        samples: the tensors of the samples by their keys.
        tolerance: the tolerance.
        scratch_bytes: the bytes of scratch memory.
        constants: collects the inputs and outputs of the samples.
    """

    program: Program
    names: Names
    samples: Mapping[str, TensorData]
    tolerance: AskedTolerance
    scratch_bytes: int
    constants: Constants = field(default_factory=Constants)

    @property
    def symbol(self) -> str:
        """The symbol of the array of samples."""
        return f"{Source(self.names.label, ()).namespace}_samples"

    def source(self) -> str:
        functions = [self._function(method) for method in self.program.methods]
        if not any(functions):
            raise uncompilable(
                self.names.label,
                "the program has no samples",
                "the program is not from an export with samples",
                "use an executorch_program, which writes samples",
            )
        calls = [
            f"  check_{method.class_name}(check);\n"
            for method, function in zip(self.program.methods, functions, strict=True)
            if function
        ]
        return files.fill(
            "CompiledCheck.cpp",
            label=self.names.label,
            header=self.names.header,
            symbol=self.symbol,
            scratch_bytes=self.scratch_bytes,
            functions="\n".join(filter(None, functions)),
            calls="".join(calls),
        )

    def _function(self, method: Method) -> str:
        """Returns the function that checks a method; an empty text if the method has no samples."""
        statements = []
        for sample in itertools.count():
            prefix = f"{method.plan.name}/{sample}/"
            if not any(key.startswith(prefix) for key in self.samples):
                break
            statements.append(f"  check.begin_sample({sample});\n")
            statements += self._inputs(method, prefix)
            statements.append("  if (!check.run(method)) return;\n")
            statements += self._outputs(method, prefix)
        if not statements:
            return ""
        class_ = f"::{self.names.cpp_namespace}::{method.class_name}"
        shared = method.shares_state
        buffers = [
            f"  alignas(64) static uint8_t buffer{number}[{max(method.nbytes(index), 1)}];\n"
            f"  method.set_{name}(reinterpret_cast<{method.element(index).cpp}*>(buffer{number}));\n"
            for number, (name, index) in enumerate(self._set_by_caller(method))
        ]
        return files.fill(
            "check_method.cpp",
            method=layout.quoted(method.plan.name),
            name=method.class_name,
            class_name=class_,
            state_declaration=f"  static Guarded<::{self.names.cpp_namespace}::SharedState> state;\n" if shared else "",
            state="state.content, " if shared else "",
            state_is_intact=" && state.is_intact()" if shared else "",
            buffers="".join(buffers),
            bounds="  check.run_at_bounds(method);\n" if method.dynamic else "",
            statements="".join(statements),
        )

    def _set_by_caller(self, method: Method) -> Iterator[tuple[str, int]]:
        seen: set[int] = set()
        for kind, indices in (("input", method.plan.inputs), ("output", method.plan.outputs)):
            for i, index in enumerate(map(method.resolved, indices)):
                if index in method.set_by_caller and index not in seen:
                    seen.add(index)
                    yield f"{kind}{i}", index

    def _inputs(self, method: Method, prefix: str) -> Iterator[str]:
        for i, index in enumerate(method.plan.inputs):
            sample = self._sample(method, index, f"{prefix}input/{i}")
            if sample is None or not isinstance(method.plan.values[index], Tensor):
                continue
            if index in method.dynamic:
                sizes = ", ".join(map(str, sample.sizes))
                yield f"  if (!check.succeeded(method.resize_input{i}({{{sizes}}}))) return;\n"
            place = self.constants.offset(memoryview(self._elements(method, index, sample)))
            yield f"  check.copy(method.input{i}(), {place}, {len(sample.data)});\n"

    def _outputs(self, method: Method, prefix: str) -> Iterator[str]:
        for i, given in enumerate(method.plan.outputs):
            index = method.resolved(given)
            sample = self._sample(method, index, f"{prefix}output/{i}")
            if sample is None:
                continue
            element = ELEMENTS[sample.dtype]
            if index in method.numbers:
                # A number of Python is a tensor of one element in the samples.
                place = self.constants.offset(memoryview(sample.data))
                bounds = self._bounds(element, sample.data, prefix)
                yield (
                    f"  {{\n    const {element.cpp} number = static_cast<{element.cpp}>(method.output{i}());\n"
                    f"    check.compare({i}, &number, {place}, 1, {bounds});\n  }}\n"
                )
                continue
            if not isinstance(method.plan.values[index], Tensor):
                continue
            if index in method.dynamic:
                sizes = ", ".join(map(str, sample.sizes))
                yield f"  check.compare_sizes({i}, method.output{i}_sizes(), {{{sizes}}});\n"
            data = self._elements(method, index, sample)
            place = self.constants.offset(memoryview(data))
            count = len(data) // element.size
            bounds = self._bounds(element, data, prefix)
            yield f"  check.compare({i}, method.output{i}(), {place}, {count}, {bounds});\n"

    def _sample(self, method: Method, index: int, key: str) -> TensorData | None:
        """Returns the sample of an input or output; None if there is none."""
        sample = self.samples.get(key)
        if sample is None:
            return None
        element = ELEMENTS.get(sample.dtype)
        fits = element is not None and len(sample.data) == math.prod(sample.sizes) * element.size
        value = method.plan.values[index]
        if isinstance(value, Tensor) and index not in method.numbers:
            fits = fits and sample.dtype == value.dtype and len(sample.sizes) == len(value.sizes)
            is_dynamic = index in method.dynamic
            sizes = zip(sample.sizes, value.sizes, strict=False)
            fits = fits and all(a == b or (is_dynamic and 0 <= a < b) for a, b in sizes)
        if not fits:
            raise uncompilable(
                self.names.label,
                f"the sample {key} of sizes {list(sample.sizes)} does not fit the program",
                "the samples are of another export, or were damaged",
                "give the samples that the export of the program wrote",
            )
        return sample

    def _elements(self, method: Method, index: int, sample: TensorData) -> bytes:
        """Returns the elements of a sample in the dim order of the program's tensor."""
        order = method.tensor(index).dim_order
        if order == sample.dim_order or sorted(order) != sorted(sample.dim_order):
            return sample.data
        size = ELEMENTS[sample.dtype].size
        strides = dict(zip(sample.dim_order, _steps([sample.sizes[d] for d in sample.dim_order]), strict=True))
        places = itertools.product(*(range(sample.sizes[d]) for d in order))
        offsets = (sum(i * strides[d] for i, d in zip(place, order, strict=True)) * size for place in places)
        return b"".join(sample.data[offset : offset + size] for offset in offsets)

    def _tolerance(self, element: Element, prefix: str) -> Tolerance:
        """Returns the tolerance by dtype, wider if the export says that the program's errors grow, as in the runner."""
        tolerance: Tolerance = TOLERANCES[element.name]
        growth = self.samples.get(f"{prefix}error_growth")
        if growth is None or element.name not in ("float32", "float64"):
            return tolerance
        (factor,) = struct.unpack("<d", growth.data)
        return Tolerance(
            rtol=tolerance.rtol * factor,
            atol=tolerance.atol * factor,
            of_largest=tolerance.of_largest * factor,
            least_snr=tolerance.least_snr - 20 * math.log10(factor),
        )

    def _bounds(self, element: Element, data: bytes, prefix: str) -> str:
        """Returns the initializer of the Bounds for an output."""
        if element.name not in _KINDS:
            return "{}"
        kind = f"Kind::{_KINDS[element.name]}"
        asked = self.tolerance
        if asked.min_snr:
            return f"{{{kind}, INFINITY, 0, 0, 0, INFINITY, {_power_ratio(asked.min_snr)}, 0}}"
        if asked.atol is not None or asked.rtol is not None:
            atol, rtol = (_OTHER if value is None else value for value in (asked.atol, asked.rtol))
            return f"{{{kind}, {atol!r}, {rtol!r}, 0, 0, INFINITY, 0, 0}}"
        tolerance = self._tolerance(element, prefix)
        sizes = sorted(abs(value) for value in _numbers(element, data) if math.isfinite(value) and value != 0)
        outlier = OUTLIER_MEDIANS * sizes[(len(sizes) - 1) // 2] if sizes else 0.0
        largest = min(sizes[-1], outlier) if sizes else 0.0
        return (
            f"{{{kind}, {tolerance.atol!r}, {tolerance.rtol!r}, {tolerance.of_largest!r}, {largest!r}, {outlier!r}, "
            f"{_power_ratio(tolerance.least_snr)}, {tolerance.atol!r}}}"
        )


def _power_ratio(decibels: float) -> str:
    return repr(10 ** (decibels / 10))


def _steps(sizes: Sequence[int]) -> list[int]:
    """Returns the distances of neighbors in each dimension, in elements."""
    steps = [1] * len(sizes)
    for i in reversed(range(len(sizes) - 1)):
        steps[i] = steps[i + 1] * sizes[i + 1]
    return steps


def _numbers(element: Element, data: bytes) -> Sequence[float]:
    count = len(data) // element.size
    if element.name == "bfloat16":
        # A bfloat16 is the upper half of a float32.
        halves = struct.unpack(f"<{count}H", data)
        return struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(half << 16 for half in halves)))
    return struct.unpack(f"<{count}{element.format}", data)
