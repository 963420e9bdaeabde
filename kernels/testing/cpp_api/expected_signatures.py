"""Writes C++ that takes the address of each operator's function, with the type from ExecuTorch's code generator.

    expected_signatures OUTPUT HEADER YAML...

The output compiles if HEADER, a Functions.h, declares the operators of the YAMLs with the same types as ExecuTorch's
Functions.h.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import executorch.codegen
import torchgen
import yaml
from executorch.codegen import gen
from executorch.codegen.api.types import ExecutorchCppSignature
from torchgen.context import native_function_manager
from torchgen.selective_build.selector import SelectiveBuilder

_KERNELS = Path(executorch.codegen.__file__).parents[1] / "kernels"
_YAMLS = ("portable/functions.yaml", "portable/custom_ops.yaml", "quantized/quantized.yaml")
_NATIVE = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"


def _names(functions: Path) -> set[str]:
    """The operators of a YAML, with their namespaces."""
    names = (entry.get("op") or entry["func"].partition("(")[0] for entry in yaml.safe_load(functions.read_text()))
    return {name if "::" in name else f"aten::{name}" for name in names}


def _checks(functions: Path, names: set[str]) -> Iterator[str]:
    parsed, _ = gen.parse_yaml_files(
        tags_yaml_path=str(_NATIVE / "tags.yaml"),
        aten_yaml_path=str(_NATIVE / "native_functions.yaml"),
        native_yaml_path=str(functions),
        custom_ops_yaml_path=None,
        selector=SelectiveBuilder.get_nop_selector(),
        use_aten_lib=False,
    )
    for function in parsed.native_functions:
        if f"{function.namespace}::{function.func.name}" not in names:
            continue
        (kernel,) = parsed.kernel_index.get_kernels(function).values()
        signature = ExecutorchCppSignature.from_native_function(function)
        with native_function_manager(function):
            types = ", ".join(argument.type for argument in signature.arguments())
            result = signature.returns_type().cpp_type()
        yield f"// {function.namespace}::{function.func}"
        for name in (
            f"torch::executor::{function.namespace}::{signature.name()}",
            f"{kernel.cpp_namespace}::{kernel.kernel}",
        ):
            yield f"static_assert(std::is_pointer_v<decltype(static_cast<{result} (*)({types})>(&::{name}))>);"


def main() -> None:
    output, header, *yamls = sys.argv[1:]
    lines = [f'#include "{header}"', "", "#include <type_traits>", ""]
    names = set().union(*(_names(Path(file)) for file in yamls))
    for name in _YAMLS:
        lines += _checks(_KERNELS / name, names)
    Path(output).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
