"""Compares what the code generator does with ExecuTorch's own code generator, from its wheel."""

from __future__ import annotations

import functools
import importlib
import itertools
import json
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import executorch.codegen
import torch
import torchgen
import torchgen.model
import yaml
from absl.testing import absltest
from executorch.codegen import gen
from executorch.codegen.api import et_cpp
from executorch.codegen.api.types import ExecutorchCppSignature
from executorch.codegen.tools import gen_oplist
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir import scalar_type as exir_scalar_type
from torchgen import local
from torchgen.api import native
from torchgen.context import native_function_manager
from torchgen.selective_build.selector import SelectiveBuilder, combine_selective_builders

from codegen.checks import calls
from codegen.inputs import functions_yaml, program_reader
from codegen.model import kernel_keys, schema, schema_types, signatures, torch_schemas
from codegen.model.prim_ops import PRIM_OPS
from codegen.model.schema_types import Dialect
from codegen.tests import case
from diagnostics.errors import Location

_KERNELS = Path(executorch.codegen.__file__).parents[1] / "kernels"
_NATIVE = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"


def _theirs(functions: Path, custom_ops: Path | None) -> dict[str, tuple[Any, str]]:
    """Of each operator, its NativeFunction and its kernel's name."""
    parsed, _ = gen.parse_yaml_files(
        tags_yaml_path=str(_NATIVE / "tags.yaml"),
        aten_yaml_path=str(_NATIVE / "native_functions.yaml"),
        native_yaml_path=str(functions),
        custom_ops_yaml_path=str(custom_ops) if custom_ops else None,
        selector=SelectiveBuilder.get_nop_selector(),
        use_aten_lib=False,
    )
    result = {}
    for function in parsed.native_functions:
        (kernel,) = parsed.kernel_index.get_kernels(function).values()
        result[f"{function.namespace}::{function.func.name}"] = function, f"{kernel.cpp_namespace}::{kernel.kernel}"
    return result


def _plain(cpp_type: str) -> str:
    """A C++ type without the namespaces and spaces that differ without a difference."""
    plain = re.sub(r"(?:torch::executor|executorch::aten|::std|std|at)::", "", cpp_type).replace(" ", "")
    return plain.replace("TensorList", "ArrayRef<Tensor>").replace("c10::string_view", "string_view")


class _Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, indices = torch.topk(x + 1, 2)
        return torch.softmax(values, -1), indices


class _ManyTypes(torch.nn.Module):
    """Calls with an argument of most of the types that a schema can have."""

    def forward(self, x: torch.Tensor, image: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values, indices = torch.topk(x, 2)
        first, second = torch.split(x, 2, dim=1)
        return (
            values,
            indices,
            torch.cat([first, second], dim=1),
            torch.nn.functional.gelu(x, approximate="tanh"),
            torch.clamp(x, min=0.5),
            torch.clamp(x, max=1),
            x[:, torch.tensor([0, 1])],
            torch.nn.functional.avg_pool2d(image, [2, 2], ceil_mode=True, divisor_override=3),
            torch.nn.functional.layer_norm(x, [4]),
            x.var(dim=1, correction=1),
            x.sum(dim=[0, 1], keepdim=True, dtype=torch.float32),
            torch.full_like(x, 2, dtype=torch.int64),
            torch.arange(0, 4, 1),
            x.add(1, alpha=2),
            x.to(torch.int32),
            torch.nn.functional.interpolate(image, scale_factor=2.0, mode="bilinear"),
            x.any(),
            image.permute(0, 2, 3, 1),
        )


class _ManyKinds(torch.nn.Module):
    """Calls with tensors of several dtypes, ranks and dim orders, with scalars, and with lists of tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 2, 3)

    def forward(
        self,
        floats: torch.Tensor,
        halves: torch.Tensor,
        bfloats: torch.Tensor,
        integers: torch.Tensor,
        image: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        first, second = torch.split(floats, 2, dim=1)
        return (
            floats + halves,
            bfloats * 2.5,
            torch.cat([floats, halves]),
            torch.cat([first, second]),
            floats[torch.tensor([2, 0])],
            torch.topk(floats.sum(dim=0), 2)[1],
            floats.sum().reshape(()) + 1,
            (integers > 1).any(),
            torch.where(integers > 1, halves, floats),
            self.convolution(image).relu(),
        )


def _meaning(selector: SelectiveBuilder) -> dict[str, Any]:
    """What ExecuTorch takes from a selection; of an operator without kernels any kernel is meant."""
    operators = {name: operator.to_dict() for name, operator in selector.operators.items()}
    for operator in operators.values():
        operator.pop("debug_info", None)
    kernels = {name: set(selector.et_kernel_metadata.get(name, ["default"])) for name in operators}
    return {"operators": operators, "kernels": kernels, "include_all_operators": selector.include_all_operators}


class ExecutorchCompatibilityTest(case.TestCase):
    def _check_signatures(self, functions: Path, custom_ops: Path | None) -> None:
        ours = functions_yaml.read(str(functions), str(custom_ops) if custom_ops else None, max_kernels=2000)
        theirs = _theirs(functions, custom_ops)
        self.assertEqual(ours.keys(), theirs.keys())
        for name, operator in ours.items():
            with self.subTest(name):
                function, kernel = theirs[name]
                signature = ExecutorchCppSignature.from_native_function(function)
                with native_function_manager(function):
                    arguments = signature.arguments(include_context=False)
                    return_type = signature.returns_type().cpp_type()
                self.assertEqual(str(operator.schema), f"{function.namespace}::{function.func}")
                self.assertEqual([own.function for own in operator.kernels], [kernel])
                self.assertEqual(signatures.wrapper_name(operator.schema), signature.name())
                self.assertEqual(
                    [_plain(type_) for type_ in signatures.parameter_types(operator.schema)],
                    [_plain(argument.type) for argument in arguments],
                )
                self.assertEqual(_plain(signatures.return_type(operator.schema)), _plain(return_type))

    def test_portable_operators(self) -> None:
        portable = _KERNELS / "portable"
        self._check_signatures(portable / "functions.yaml", portable / "custom_ops.yaml")

    def test_quantized_operators(self) -> None:
        self._check_signatures(_KERNELS / "quantized" / "quantized.yaml", None)

    def _other_types(self, theirs: Callable[[torchgen.model.Type], Any], dialect: Dialect) -> dict[str, str]:
        """The types of the table that another code generator makes something else of; "" where it cannot."""
        others = {}
        for name, row in schema_types.TYPES.items():
            for text, in_cpp in ((name, row.cpp_type(dialect)), (f"{name}?", row.optional.cpp_type(dialect))):
                if in_cpp is None:
                    continue
                try:
                    # Other code generators want a size for lists of bools.
                    type_ = _plain(theirs(torchgen.model.Type.parse(text.replace("ool[]", "ool[3]"))).cpp_type())
                except (KeyError, AssertionError):
                    type_ = ""
                if type_ != _plain(in_cpp.parameter):
                    others[text] = type_
        return others

    def test_every_type_with_executorchs_tensors(self) -> None:
        others = self._other_types(
            lambda type_: et_cpp.argumenttype_type(type_, mutable=False, binds="value"), Dialect.EXECUTORCH
        )
        # The runtime has values of these all the same.
        base = ("SymBool", "Layout", "Device", "SymBool[]")
        self.assertEqual(others, {text: "" for name in base for text in (name, f"{name}?")})

    def test_every_type_with_pytorchs_tensors(self) -> None:
        with local.parametrize(use_const_ref_for_mutable_tensors=False, use_ilistref_for_tensor_lists=False):
            others = self._other_types(
                lambda type_: native.argumenttype_type(type_, mutable=False, binds="value", symint=False), Dialect.ATEN
            )
        # A program has no symbols, and its lists of bools are of any size. C++ has no optional of a reference.
        self.assertEqual(
            others,
            {
                "SymBool": "c10::SymBool",
                "SymBool?": "optional<c10::SymBool>",
                "SymBool[]": "ArrayRef<c10::SymBool>",
                "SymBool[]?": "optional<ArrayRef<c10::SymBool>>",
                "Tensor?[]?": "optional<constc10::List<optional<Tensor>>&>",
                "bool[]": "array<bool,3>",
                "bool[]?": "optional<array<bool,3>>",
            },
        )

    def _select(self, *flags: str, name: str = "selected_operators.yaml") -> str:
        path = str(self.directory / name)
        self.run_command("select", f"--output={path}", *flags)
        return path

    def test_selection_is_read_by_torchgen(self) -> None:
        ops_dict = {"aten::relu.out": ["Float"], "aten::sub.out": ["v1/6;0|6;0|6;0|6;0"], "aten::div.out": []}
        selector = SelectiveBuilder.from_yaml_path(
            self._select("--ops=aten::add.out", "--ops=my_ops::mul3.out", f"--ops_dict={json.dumps(ops_dict)}")
        )
        selected = {"aten::add.out", "my_ops::mul3.out", *ops_dict}
        for name in (*selected, "aten::mul.out", "aten::add.Scalar_out", "aten::add"):
            for is_selected in (selector.is_root_operator, selector.is_operator_selected):
                self.assertEqual(is_selected(name), name in selected, name)
        self.assertFalse(selector.include_all_operators)
        kernels = ["v1/6;0|6;0|6;0|6;0", "v1/5;0|5;0|5;0|5;0", "default"]
        for name, expected in (("aten::sub.out", kernels[:1]), ("aten::relu.out", ["default"]), ("aten::mul.out", [])):
            self.assertEqual(selector.et_get_selected_kernels(name, kernels), expected)
        self.assertEqual(selector.et_get_selected_kernels("aten::add.out", ["default"]), ["default"])

    def test_everything_is_read_by_torchgen(self) -> None:
        selector = SelectiveBuilder.from_yaml_path(self._select("--include_all_operators"))
        self.assertTrue(selector.is_root_operator("aten::mul.out"))
        self.assertEqual(selector.et_get_selected_kernels("aten::mul.out", ["default"]), ["default"])

    def test_selection_of_gen_oplist(self) -> None:
        """gen_oplist means the same by lists and dictionaries, where it knows the dtypes."""
        ops_dict = json.dumps({"aten::add.out": ["Float", "v1/4;0|4;0|4;0|4;0"], "aten::sub.out": []})
        theirs = str(self.directory / "theirs.yaml")
        gen_oplist.gen_oplist(theirs, root_ops="aten::add.out,aten::mul.out", ops_dict=ops_dict)
        ours = self._select("--ops=aten::add.out", "--ops=aten::mul.out", f"--ops_dict={ops_dict}")
        through = self._select(f"--selection={theirs}", name="through.yaml")
        expected = _meaning(SelectiveBuilder.from_yaml_path(theirs))
        self.assertEqual(_meaning(SelectiveBuilder.from_yaml_path(ours)), expected)
        self.assertEqual(_meaning(SelectiveBuilder.from_yaml_path(through)), expected)

    def test_union_is_torchgens(self) -> None:
        texts = (
            "operators: {'aten::add': {debug_info: [a]}, 'aten::mul.out': {is_root_operator: false, debug_info: [a]}}\n"
            "et_kernel_metadata: {'aten::add': [default], 'aten::mul.out': ['v1/6;']}\n",
            "operators: {'aten::mul.out': {include_all_overloads: false, is_used_for_training: false}}\n"
            "et_kernel_metadata: {'aten::mul.out': ['v1/5;', 'v1/6;']}\n",
            "operators: {'aten::add.out': {is_root_operator: false, is_used_for_training: false}}\n"
            "et_kernel_metadata: {'aten::add.out': ['v1/3;0']}\ninclude_all_non_op_selectives: true\n",
            "include_all_operators: true\ndebug_info: [server]\n",
        )
        paths = [self.write(f"{i}.yaml", text) for i, text in enumerate(texts)]
        for size in range(1, len(paths) + 1):
            for some in itertools.combinations(paths, size):
                ours = SelectiveBuilder.from_yaml_path(self._select(*(f"--selection={path}" for path in some)))
                theirs = functools.reduce(combine_selective_builders, map(SelectiveBuilder.from_yaml_path, some))
                self.assertEqual(_meaning(ours), _meaning(theirs), some)

    def test_dtypes(self) -> None:
        """The runtime's dtypes have the numbers of those that ExecuTorch exports with."""
        complex_names = {"COMPLEX32": "ComplexHalf", "COMPLEX64": "ComplexFloat", "COMPLEX128": "ComplexDouble"}
        for dtype in exir_scalar_type.ScalarType:
            name = complex_names.get(dtype.name, dtype.name.replace("FLOAT8", "FLOAT8_"))
            self.assertEqual(kernel_keys.find_dtype(name), dtype.value, dtype.name)

    def test_bundled_program(self) -> None:
        # All of devtools would import pandas, which nothing here needs.
        devtools = types.ModuleType("executorch.devtools")
        devtools.__path__ = [str(_KERNELS.parent / "devtools")]
        with mock.patch.dict(sys.modules, {"executorch.devtools": devtools}):
            bundled_program: Any = importlib.import_module("executorch.devtools.bundled_program.core")
            config: Any = importlib.import_module("executorch.devtools.bundled_program.config")
            serialize: Any = importlib.import_module("executorch.devtools.bundled_program.serialize")
        exported = torch.export.export(_Model(), (torch.randn(3, 4),))
        program = to_edge(exported).to_executorch()
        suite = config.MethodTestSuite("forward", [config.MethodTestCase((torch.randn(3, 4),))])
        bundled = bundled_program.BundledProgram(program, [suite])
        path = self.write("model.bpte", serialize.serialize_from_bundled_program_to_flatbuffer(bundled))
        plain = self.write("model.pte", program.buffer)
        self.assertEqual(program_reader.read(path, "//m:m").calls, program_reader.read(plain, "//m:m").calls)
        self.assertEqual(frozenset(program_reader.read(path, "//m:m").calls), set(gen_oplist._get_operators(path)))

    def _loads(self, program: str, kernels: Iterable[tuple[str, str]]) -> bool:
        """Whether the runtime finds a kernel for every call of a program among these operators with their keys."""
        lines = "".join(f"{operator} {key}\n" for operator, key in kernels)
        result = subprocess.run([os.environ["LOAD_PROGRAM"], program], input=lines, text=True, capture_output=True)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return result.returncode == 0

    def test_operators_without_out_arguments(self) -> None:
        """What an operator is without its out arguments, by torchgen's signatures."""
        compared = 0
        for entry in yaml.safe_load((_NATIVE / "native_functions.yaml").read_text()):
            derived = torch_schemas.functional(schema.parse(entry["func"], lambda offset: Location("native")))
            if derived is None:
                continue
            theirs = torchgen.model.FunctionSchema.parse(entry["func"])
            ours = torchgen.model.FunctionSchema.parse(torch_schemas.unqualified(derived))
            self.assertEqual(ours.signature(), theirs.signature())
            compared += 1
        self.assertGreater(compared, 500)

    def test_runtime_finds_the_selected_kernels(self) -> None:
        """Each call reaches a kernel with a selected key, and each key of a call is needed by one."""
        floats, image = torch.randn(3, 4), torch.randn(1, 3, 8, 8)
        inputs = (floats, floats.half(), floats.bfloat16(), floats.int(), image)
        channels_last = (*inputs[:-1], image.to(memory_format=torch.channels_last))
        methods = {
            name: torch.export.export(_ManyKinds(), values)
            for name, values in (("forward", inputs), ("channels_last", channels_last))
        }
        config = EdgeCompileConfig(_check_ir_validity=False)
        program = self.write("model.pte", to_edge(methods, compile_config=config).to_executorch().buffer)
        calls = program_reader.read(program, "//m:m").calls
        kernels = {
            (operator, key) for operator, found in calls.items() for key in found.selected if operator not in PRIM_OPS
        }
        self.assertTrue(self._loads(program, kernels))
        only_dtypes = {("aten::cat.out", "v1/5;"), ("aten::index.Tensor_out", "v1/4;")}
        self.assertLess(only_dtypes, kernels)
        for kernel in kernels:
            self.assertEqual(self._loads(program, kernels - {kernel}), kernel in only_dtypes, kernel)
        dim_orders = {tensor.dim_order for _, key in kernels for tensor in kernel_keys.parse(key) or ()}
        self.assertLessEqual({(), (0,), (0, 1), (0, 1, 2, 3), (0, 2, 3, 1)}, dim_orders)
        dtypes = kernel_keys.dtypes(key for _, key in kernels)
        self.assertEqual(
            {kernel_keys.dtype_name(d) for d in dtypes or ()}, {"Float", "Half", "BFloat16", "Int", "Long", "Bool"}
        )

    def _signatures(self, model: torch.nn.Module, *inputs: torch.Tensor) -> dict[str, list[tuple[str, ...]]]:
        program = to_edge(
            torch.export.export(model, inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False)
        )
        path = self.write("model.pte", program.to_executorch().buffer)
        return {name: sorted(found.kinds) for name, found in program_reader.read(path, "//m:m").calls.items()}

    def test_calls_of_exported_models_fit_the_schemas(self) -> None:
        operators = functions_yaml.read(str(_KERNELS / "portable" / "functions.yaml"), None, max_kernels=2000)
        checked = set()
        floats = torch.randn(3, 4)
        for model, inputs in (
            (_Model(), (floats,)),
            (_ManyKinds(), (floats, floats.half(), floats.bfloat16(), floats.int(), torch.randn(1, 3, 8, 8))),
            (_ManyTypes(), (floats, torch.randn(1, 2, 6, 6))),
        ):
            for name, kinds in self._signatures(model, *inputs).items():
                if name in operators:
                    checked.add(name)
                    for of_call in kinds:
                        self.assertIsNone(calls.finding(operators[name], of_call, "//o:o", "//m:m"))
        expected = "topk.values index.Tensor_out split_with_sizes_copy.out gelu.out clamp.out avg_pool2d.out"
        self.assertLessEqual({f"aten::{name}" for name in expected.split()}, checked)

    def test_calls_of_an_operator_with_another_schema(self) -> None:
        library = torch.library.Library("checks", "DEF")
        library.define("scale(Tensor x, float by, int[] dims, bool flag) -> Tensor")
        library.define("scale.out(Tensor x, float by, int[] dims, bool flag, *, Tensor(a!) out) -> Tensor(a!)")
        library.impl("scale", lambda x, by, dims, flag: x * by, "CompositeExplicitAutograd")
        library.impl("scale.out", lambda x, by, dims, flag, out: out.copy_(x * by), "CompositeExplicitAutograd")

        class Scale(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                scaled: torch.Tensor = torch.ops.checks.scale(x, 0.5, [0, 1], True)
                return scaled

        ((name, (kinds,)),) = self._signatures(Scale(), torch.ones(2)).items()
        self.assertEqual(name, "checks::scale.out")
        for arguments, fits in (
            ("Tensor x, float by, int[] dims, bool flag", True),
            ("Tensor x, Scalar by, SymInt[2] dims, bool? flag", True),
            ("float by, Tensor x, int[] dims, bool flag", False),
            ("Tensor x, float by, int[] dims", False),
            ("Tensor x, float by, int[] dims, bool flag, bool other", False),
            ("Tensor x, int by, int[] dims, bool flag", False),
            ("Tensor x, float by, float[] dims, bool flag", False),
            ("Tensor x, float by, int[] dims, str flag", False),
        ):
            schema = f"checks::scale.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)"
            yaml = f"- func: {schema}\n  kernels: [{{arg_meta: null, kernel_name: a::f}}]\n"
            operators = functions_yaml.read(None, self.write("custom_ops.yaml", yaml), max_kernels=2000)
            finding = calls.finding(operators[name], kinds, "//o:o", "//m:m")
            self.assertEqual(finding is None, fits, schema)

    def test_version_of_programs(self) -> None:
        exir_version: Any = importlib.import_module("executorch.exir.version")
        self.assertEqual(program_reader.MAX_VERSION, exir_version.EXECUTORCH_SCHEMA_VERSION)

    def test_operators_of_an_exported_model(self) -> None:
        exported = torch.export.export(_Model(), (torch.randn(3, 4),))
        program = self.write("model.pte", to_edge(exported).to_executorch().buffer)
        ours = frozenset(program_reader.read(program, "//m:m").calls)
        self.assertEqual(ours, set(gen_oplist._get_operators(program)))
        self.assertIn("aten::topk.values", ours)


if __name__ == "__main__":
    absltest.main()
