"""Compares what the code generator does with ExecuTorch's own code generator, from its wheel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import executorch.codegen
import torch
import torchgen
from absl.testing import absltest
from executorch.codegen import gen
from executorch.codegen.api.types import ExecutorchCppSignature
from executorch.codegen.tools import gen_oplist
from executorch.exir import to_edge
from torchgen.context import native_function_manager
from torchgen.selective_build.selector import SelectiveBuilder

from codegen import operator_table, program_reader, signatures
from codegen.tests import case

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
    return plain.replace("TensorList", "ArrayRef<Tensor>")


class ExecutorchCompatibilityTest(case.TestCase):
    def _check_signatures(self, functions: Path, custom_ops: Path | None) -> None:
        ours = operator_table.read(str(functions), str(custom_ops) if custom_ops else None)
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
                self.assertEqual(operator.kernel, kernel)
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

    def test_selection_is_read_by_torchgen(self) -> None:
        path = str(self.directory / "selected_operators.yaml")
        self.run_command("select", f"--output={path}", "--ops=aten::add.out", "--ops=my_ops::mul3.out")
        selector = SelectiveBuilder.from_yaml_path(path)
        for name, selected in (("aten::add.out", True), ("my_ops::mul3.out", True), ("aten::mul.out", False)):
            self.assertEqual(selector.is_root_operator(name), selected)
        self.assertEqual(selector.et_get_selected_kernels("aten::add.out", ["default"]), ["default"])

    def test_selection_of_gen_oplist(self) -> None:
        theirs = str(self.directory / "theirs.yaml")
        gen_oplist.gen_oplist(theirs, root_ops="aten::add.out,aten::mul.out")
        output = self.directory / "selected_operators.yaml"
        self.run_command("select", f"--output={output}", f"--selection={theirs}")
        selector = SelectiveBuilder.from_yaml_path(str(output))
        self.assertEqual(set(selector.operators), {"aten::add.out", "aten::mul.out"})

    def test_operators_of_an_exported_model(self) -> None:
        class Model(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
                values, indices = torch.topk(x + 1, 2)
                return torch.softmax(values, -1), indices

        exported = torch.export.export(Model(), (torch.randn(3, 4),))
        program = self.write("model.pte", to_edge(exported).to_executorch().buffer)
        ours = program_reader.operators(program, "//m:m")
        self.assertEqual(ours, set(gen_oplist._get_operators(program)))
        self.assertIn("aten::topk.values", ours)


if __name__ == "__main__":
    absltest.main()
