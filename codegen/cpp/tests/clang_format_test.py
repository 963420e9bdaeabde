from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import clang_format
from absl.testing import absltest

from codegen.cpp import layout, template
from codegen.tests import case

# The YAML with an operator of each type, from the BUILD file.
_ALL_TYPES = sys.argv.pop(1)
_STYLE = Path(template.__file__).with_name(".clang-format")
_LONG_LINES = """
- func: my_ops::mul4.out(Tensor input, *, str mode="sum", Tensor(a!) output) -> Tensor(a!)
  kernels: [{kernel_name: custom::mul4_out_impl}]
- func: my_ops::mul5.out(Tensor input, Tensor? a_long_name, int[] several, Scalar? alpha, *, Tensor(a!) x) -> Tensor(a!)
  kernels: [{kernel_name: custom::mul4_out_impl}]
- func: my_ops::three.out(Tensor x, int[] n, *, Tensor(a!) a, Tensor(b!) b, Tensor(c!) c) -> (Tensor(a!), Tensor(b!), Tensor(c!))
  kernels: [{kernel_name: custom::three_out_implementation}]
- func: other_ops::increment_in_the_place_where_it_is(Tensor(a!) self) -> Tensor(a!)
  kernels: [{kernel_name: custom::std::increment_in_the_place_where_it_is}]
"""  # noqa: E501


class ClangFormatTest(case.TestCase):
    """Generated C++ is what clang-format makes of it, and no line is too long that could be broken."""

    def setUp(self) -> None:
        super().setUp()
        self.write(".clang-format", _STYLE.read_text())
        self._selection = str(self.directory / "selection.yaml")
        self.run_command("select", "--include_all_operators", f"--output={self._selection}")

    def _generate(self, command: str, *arguments: str) -> None:
        outputs = {
            "boxed_kernels": "",
            "kernel_table": "KernelTable.cpp",
            "native_functions": "NativeFunctions.h",
            "manifest": "registered.json",
        }
        flags = (f"--{flag}={self.directory / name}" for flag, name in outputs.items())
        self.run_command(command, "--max_kernels=2000", "--label=//ops:lib", *flags, *arguments)

    def _generate_for_runtime(self, *arguments: str) -> None:
        outputs = {
            "registration": "RegisterKernels.cpp",
            "registered_names": "RegisteredNames.cpp",
            "functions": "Functions.h",
            "typed_kernels_header": "TypedKernels.h",
            "kernels_of_set": "KernelsOfSet.cpp",
            "chosen_kernels": "ChosenKernels.cpp",
        }
        flags = (f"--{flag}={self.directory / name}" for flag, name in outputs.items())
        sets = (f"--instruction_set={name}" for name in ("avx512_bf16", "avx512", "avx2", "baseline"))
        self._generate("generate", f"--selection={self._selection}", *flags, *sets, *arguments)

    def _check(self, *expected: str) -> None:
        """Checks the C++ in the directory, which has some files among others."""
        sources = sorted(path for ending in ("*.cpp", "*.h") for path in self.directory.glob(ending))
        self.assertLessEqual(set(expected), {path.name for path in sources})
        for source in sources:
            for line in source.read_text().splitlines():
                self.assertTrue(len(line) <= layout.COLUMNS or line.endswith('",'), line)
        command = [clang_format.get_executable("clang-format"), "--dry-run", "-Werror", *map(str, sources)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stderr)

    def test_kernels_of_every_type(self) -> None:
        self._generate_for_runtime(f"--custom_ops_yaml={_ALL_TYPES}")
        self._check("KernelTable.cpp", "RegisterKernels.cpp", "RegisteredNames.cpp")
        self._check("NativeFunctions.h", "Functions.h")
        self._check("TypedKernels.h", "KernelsOfSet.cpp", "ChosenKernels.cpp")

    def test_long_lines(self) -> None:
        header = self.directory / "RegisterKernels.h"
        yaml = self.write("custom_ops.yaml", _LONG_LINES)
        self._generate_for_runtime(f"--custom_ops_yaml={yaml}", f"--registration_header={header}")
        self._check("KernelTable.cpp", "RegisterKernels.h")

    def test_kernels_of_pytorch(self) -> None:
        self.run_command(
            "select", "--ops=aten::add.out", "--ops=aten::_native_batch_norm_legit.out", f"--output={self._selection}"
        )
        self._generate_for_runtime("--aten_kernels", "--nosupport_exceptions")
        self._check("KernelTable.cpp")

    def test_nothing_selected(self) -> None:
        self.run_command("select", "--ops=executorch_prim::add.Scalar", f"--output={self._selection}")
        self._generate_for_runtime(f"--custom_ops_yaml={_ALL_TYPES}")
        self._check("KernelTable.cpp", "RegisterKernels.cpp", "RegisteredNames.cpp")

    def test_operators_of_pytorch(self) -> None:
        outputs = {
            "aten_source": "AtenKernels.cpp",
            "torch_operators": "TorchOperators.cpp",
            "module": "lib.py",
            "torch_manifest": "lib.torch.json",
        }
        flags = (f"--{flag}={self.directory / name}" for flag, name in outputs.items())
        yaml = self.write("custom_ops.yaml", _LONG_LINES)
        self._generate("generate_torch", f"--aten_custom_ops_yaml={yaml}", "--library=liblib.so", *flags)
        self._check("AtenKernels.cpp", "TorchOperators.cpp")

    def test_adapters(self) -> None:
        self._generate_for_runtime("--custom_ops_yaml=" + self.write("custom_ops.yaml", _LONG_LINES))
        tensor, optional = "executorch::runtime::etensor::Tensor", "std::optional<executorch::runtime::etensor::"
        symbols = (
            f"custom::native::mul4_out_impl({tensor} const&, std::basic_string_view<char, std::char_traits<char>>, "
            f"{tensor}&)",
            f"custom::native::mul4_out_impl({tensor} const&, {optional}Tensor> const&, "
            f"executorch::runtime::ArrayRef<long>, {optional}Scalar> const&, {tensor}&)",
            f"custom::native::three_out_implementation({tensor} const&, executorch::runtime::ArrayRef<long>, "
            f"{tensor}&, {tensor}&, {tensor}&)",
            f"custom::std::native::increment_in_the_place_where_it_is({tensor}&)",
        )
        listing = self.write("listing", "".join(f"k.o:0000000000000010 T {symbol}\n" for symbol in symbols))
        nm = self.write("nm", f"#!/bin/sh\ncat '{listing}'\n")
        Path(nm).chmod(0o755)
        manifest, output = self.directory / "registered.json", self.directory / "KernelAdapters.cpp"
        self.run_command("bind", f"--manifest={manifest}", f"--nm={nm}", "--library=k.o", f"--output={output}")
        self.assertEqual(output.read_text().count("ET_WEAK"), 4)
        self._check("KernelAdapters.cpp")

    def test_selected_dtypes(self) -> None:
        self._generate_for_runtime("--custom_ops_yaml=" + self.write("custom_ops.yaml", _LONG_LINES))
        keys = {"my_ops::mul4.out": ["v1/6;0|6;0|6;0", "v1/5;0|5;0|5;0"], "my_ops::mul5.out": ["default"]}
        selected = {"operators": {name: {} for name in keys}, "et_kernel_metadata": keys}
        self.run_command(
            "prune",
            "--label=//ops:lib",
            f"--manifest={self.directory}/registered.json",
            "--selection=" + self.write("keys.yaml", json.dumps(selected)),
            "--source=0:kernels/op_mul.cpp:my_ops::mul4.out,my_ops::mul5.out",
            f"--directory={self.directory}",
            f"--header={self.directory}/selected_op_variants.h",
            f"--dtypes={self.directory}/dtypes.json",
            f"--marks={self.directory}/SelectedKernels.cpp",
        )
        self._check("selected_op_variants.h", "SelectedKernels.cpp", "kernels_op_mul.cpp")

    def test_selected_prim_ops(self) -> None:
        header = self.directory / "selected_prim_ops.h"
        self.run_command(
            "select", "--ops=aten::sym_size.int", f"--prim_ops_header={header}", f"--output={self._selection}"
        )
        self._check("selected_prim_ops.h")


if __name__ == "__main__":
    absltest.main()
