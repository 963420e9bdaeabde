"""Fuzzes generated C++: the code of a library with odd names compiles, or the YAML is refused with a place.

    tools/bazel run //codegen/fuzz:cpp_fuzz -- --libraries=1000 --seed=2 --words=100000

The fuzzer uses each word of the runtime's headers for every name in a YAML, and makes libraries of a few odd names,
which clash. For each library, a program calls the operators in methods of odd names, and becomes C++, too. The test
runs a sample of both.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from codegen.commands import command_line
from codegen.cpp import adapters, torch_operators
from codegen.cpp.source import Source
from codegen.fuzz import odd_libraries
from codegen.fuzz.odd_libraries import Entry
from codegen.inputs import functions_yaml
from codegen.model import signatures
from codegen.tests import programs
from diagnostics.errors import InputError, Location

_COMPILER = flags.DEFINE_string("compiler", "g++", "A C++ compiler that takes GCC's options.")
_HEADER = flags.DEFINE_string("header", None, "The runtime's executorch/runtime/core/evalue.h.", required=True)
_SEED = flags.DEFINE_integer("seed", 1, "The same seed makes the same libraries.")
_LIBRARIES = flags.DEFINE_integer("libraries", 20, "How many libraries of clashing names to make.")
_WORDS = flags.DEFINE_integer("words", 100, "How many words of the headers to try in every place.")

_MAX_KERNELS = 2000
# One source of generated code has at most 64 kernels, so all kernels of a library are in one source.
_SIZE = 60
_HEADERS = (
    "executorch/runtime/core/evalue.h",
    "executorch/runtime/core/event_tracer_hooks.h",
    "executorch/runtime/core/exec_aten/exec_aten.h",
    "executorch/runtime/core/exec_aten/util/tensor_util.h",
    "executorch/runtime/kernel/kernel_runtime_context.h",
    "executorch/runtime/kernel/operator_registry.h",
    "executorch/runtime/platform/assert.h",
    "executorch/runtime/platform/compiler.h",
    "executorch/runtime/platform/log.h",
    "executorch/runtime/platform/profiler.h",
)
# A value of each type in the schemas of odd_libraries.
_TENSOR = programs.Tensor(6, (0,), (1,), place=(1, 0))
_VALUES: dict[str, programs.Value] = {
    "Device?": 1,
    "Layout": 0,
    "MemoryFormat?": None,
    "Scalar": 0.5,
    "ScalarType": 6,
    "Tensor": _TENSOR,
    "Tensor?": _TENSOR,
    "Tensor?[]": programs.OptionalTensorList((_TENSOR, None)),
    "Tensor[]": programs.TensorList((_TENSOR, _TENSOR)),
    "bool[]": programs.BoolList((True,)),
    "float?": float("inf"),
    "int": -(2**63),
    "int[]": programs.IntList((1, 2)),
    "str": "??/\n",
}


class _Compiler:
    def __init__(self, directory: Path) -> None:
        self._prelude = directory / "prelude.h"
        self._prelude.write_text("".join(f"#include <{header}>\n" for header in _HEADERS))
        self._command = [_COMPILER.value, "-std=c++17", "-Wall", "-Wextra", "-Werror"]
        include = Path(_HEADER.value).parents[3]
        # The include paths of @executorch_runtime//:headers, and this repository.
        self._command += [f"-I{include}", f"-I{include}/executorch/runtime/core/portable_type/c10", "-I."]
        self._command += ["-DC10_USING_CUSTOM_GENERATED_MACROS", "-DET_EVENT_TRACER_ENABLED"]
        self._run("-x", "c++-header", str(self._prelude), "-o", f"{self._prelude}.gch").check_returncode()

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self._command, *arguments], capture_output=True, text=True, check=False)

    def words(self) -> list[str]:
        """Returns all identifiers and macros of the headers."""
        plain = self._run("-E", "-P", "-x", "c++", str(self._prelude)).stdout
        macros = self._run("-E", "-dM", "-x", "c++", str(self._prelude)).stdout
        texts = re.sub(r'"(?:[^"\\]|\\.)*"', "", plain), " ".join(re.findall(r"#define (\w+)", macros))
        return sorted({word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)})

    def errors(self, source: Path) -> str:
        """Returns the compiler's errors for a source; empty if the source compiles."""
        result = self._run("-include", str(self._prelude), "-fsyntax-only", str(source))
        return result.stderr if result.returncode else ""


class _Library:
    """Writes and compiles one library after another."""

    def __init__(self, directory: Path, compiler: _Compiler) -> None:
        self._directory = directory
        self._compiler = compiler
        self._selection = str(directory / "selection.yaml")
        command_line.run("select", ["--include_all_operators", f"--output={self._selection}"])

    def accepted(self, entries: Sequence[Entry]) -> list[Entry]:
        """Returns the entries without findings. Each finding must have a place."""
        left = list(entries)
        while left:
            try:
                self._read(left)
                return left
            except InputError as error:
                starts = [1]
                for entry in left:
                    starts.append(starts[-1] + str(entry).count("\n"))
                refused = set()
                for finding in error.findings:
                    if not isinstance(finding.where, Location) or not finding.where.column:
                        raise AssertionError(f"a finding without a place: {finding}") from error
                    refused.add(sum(start <= finding.where.line for start in starts) - 1)
                left = [entry for i, entry in enumerate(left) if i not in refused]
        return left

    def _read(self, entries: Sequence[Entry]) -> None:
        self._yaml = self._directory / "custom_ops.yaml"
        self._yaml.write_text("".join(map(str, entries)))
        self._operators = functions_yaml.read(None, str(self._yaml), max_kernels=_MAX_KERNELS)

    def errors(self, entries: Sequence[Entry]) -> str:
        """Returns the compiler's errors for accepted entries."""
        self._read(entries)
        names = {
            "registration": "RegisterKernels.cpp",
            "registered_names": "RegisteredNames.cpp",
            "registration_header": "RegisterKernels.h",
            "kernel_table": "KernelTable.cpp",
            "native_functions": "NativeFunctions.h",
            "functions": "Functions.h",
            "typed_kernels_header": "TypedKernels.h",
            "kernels_of_set": "KernelsOfSet.cpp",
            "chosen_kernels": "ChosenKernels.cpp",
            "manifest": "registered.json",
            "boxed_kernels": "",
        }
        command = ["--label=//odd package:1 odd.library", f"--max_kernels={_MAX_KERNELS}"]
        command += [f"--custom_ops_yaml={self._yaml}", f"--selection={self._selection}", "--instruction_set=baseline"]
        with contextlib.redirect_stderr(io.StringIO()):  # Hides notes about operators that no program calls.
            command_line.run(
                "generate", command + [f"--{flag}={self._directory / name}" for flag, name in names.items()]
            )
        source = Source("//odd package:2 odd.library", ("custom_ops.yaml",))
        kernels = {
            (kernel.function, signatures.parameter_types(operator.schema)): operator
            for operator in self._operators.values()
            for kernel in operator.kernels
        }
        texts = {
            "KernelAdapters.cpp": adapters.text(source, [(name, operator) for (name, _), operator in kernels.items()]),
            "TorchOperators.cpp": torch_operators.text(
                source, list(self._operators.values()), functional_variants=True
            ),
        }
        for name, text in texts.items():
            (self._directory / name).write_text(text)
        sources = ["Functions.h", "KernelTable.cpp", "RegisterKernels.cpp", "RegisteredNames.cpp"]
        sources.append("TorchOperators.cpp")
        self._compile_program()
        whole = self._directory / "whole.cpp"
        whole.write_text("".join(f'#include "{name}"\n' for name in sources))
        others = (
            "KernelsOfSet.cpp",
            "ChosenKernels.cpp",
            "KernelAdapters.cpp",
            "CompiledProgram.cpp",
            "CompiledProgram_c.cpp",
        )
        return "".join(self._compiler.errors(path) for path in (whole, *(self._directory / name for name in others)))

    def _compile_program(self) -> None:
        """Writes the C++ of a program that calls each operator in a method that has the name of the operator."""
        methods = {}
        for name, operator in self._operators.items():
            # A compiled program has no memory for a new tensor.
            if operator.schema.out:
                values = [_VALUES[str(argument.type)] for argument in operator.schema.arguments]
                method = programs.Method([programs.Call(name, (*values, values[-1]))], (_TENSOR,), (_TENSOR,), (4,))
                methods[name.removeprefix("ops::").removesuffix(".out")] = method
        program = self._directory / "program.pte"
        program.write_bytes(programs.build(methods or {"forward": programs.Method([])}))
        outputs = {
            "header": "CompiledProgram.h",
            "source": "CompiledProgram.cpp",
            "c_header": "CompiledProgram_c.h",
            "c_source": "CompiledProgram_c.cpp",
            "constants": "constants.bin",
        }
        command = [
            "--label=//odd package:3 odd.library",
            f"--program={program}",
            "--program_name=//odd package:program",
        ]
        command += [f"--manifest={self._directory}/registered.json", "--native_functions=NativeFunctions.h"]
        command += ["--typed_kernels=TypedKernels.h"]
        command += ["--cpp_namespace=odd", "--include=CompiledProgram.h"]
        command_line.run("compile", command + [f"--{flag}={self._directory / name}" for flag, name in outputs.items()])

    def smallest(self, entries: Sequence[Entry]) -> list[Entry]:
        """Reduces entries that do not compile together to a small failing list."""
        entries = list(entries)
        step = len(entries) // 2
        while step:
            for start in range(0, len(entries), step):
                rest = entries[:start] + entries[start + step :]
                if rest and self.errors(rest):
                    entries = rest
                    break
            else:
                step //= 2
        return entries


def _failure(library: _Library, entries: Sequence[Entry]) -> str:
    """Returns a small list of entries that do not compile, with the compiler's errors; empty if all compile."""
    if not entries or not library.errors(entries):
        return ""
    few = library.smallest(entries)
    return "".join(map(str, few)) + "".join(line + "\n" for line in library.errors(few).splitlines()[:4])


def main(_: list[str]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        compiler = _Compiler(directory)
        library = _Library(directory, compiler)
        generator = random.Random(_SEED.value)
        words = compiler.words()
        swept = generator.sample(words, min(_WORDS.value, len(words)))
        sweep = odd_libraries.sweep([word for word in swept if word not in odd_libraries.OWN_WORDS])
        generator.shuffle(sweep)
        batches = [sweep[i : i + _SIZE] for i in range(0, len(sweep), _SIZE)]
        batches += [odd_libraries.library(generator, words, _SIZE) for _ in range(_LIBRARIES.value)]
        count = taken = failed = 0
        for batch in batches:
            accepted = library.accepted(batch)
            count, taken = count + len(batch), taken + len(accepted)
            if failure := _failure(library, accepted):
                failed += 1
                print(failure, flush=True)
    print(f"{len(batches)} libraries, {count} operators: {taken} accepted, {count - taken} refused with a place")
    if failed:
        sys.exit(f"{failed} libraries do not compile")


if __name__ == "__main__":
    app.run(main)
