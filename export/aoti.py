"""Compiles a model file into a package of AOTInductor (.pt2) and records samples."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch._inductor.package.package import package_aoti

from diagnostics.errors import InputError
from export.lower.tracing import trace
from export.user import model_file, samples
from export.user.inputs import Inputs
from export.user.messages import SHOW_MORE, condense, text_of
from export.user.model_file import Method
from export.user.samples import Sample, Value

# PyTorch's own operators. When Python imports this module, no other operator library is loaded yet.
_OF_PYTORCH = frozenset(torch._C._dispatch_get_all_op_names())
# The namespaces of the operators that AOTInductor compiles to code.
_COMPILED_IN = ("aten", "prim", "prims")
# The dispatch keys of kernels for the CPU.
_CPU_KEYS = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd")
_REGISTERED_IN_PYTHON = re.compile(r"^(debug|\w+)(?:\[alias\])?: registered at (.+\.py):(\d+)", re.M)


@dataclass(frozen=True)
class Compiler:
    """The C++ compiler for AOTInductor.

    Attributes:
        path: the compiler's executable.
        compile_flags: flags of every call.
        link_flags: additional flags of calls that link.
        native: compile for the processor of this machine. If false, compile for any processor that the flags allow.
    """

    path: str
    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    native: bool = False

    def script(self, folders: Sequence[Path]) -> str:
        """Returns a shell script that runs this compiler. The compiler's outputs do not contain the folders' paths."""
        mapped = [f"-ffile-prefix-map={folder}/=" for folder in folders]
        compile_command = shlex.join([os.path.abspath(self.path) if "/" in self.path else self.path, *mapped])
        # With large weights, gold fails with an internal error. Without the flag, the compiler uses its default linker.
        link_flags = shlex.join(flag for flag in self.link_flags if flag != "-fuse-ld=gold")
        flags = shlex.join(self.compile_flags)
        return (
            "#!/bin/sh\n"
            'for argument; do case "$argument" in -c|-E|-v|--version) compiles=1;; esac; done\n'
            f'if [ "$compiles" ]; then exec {compile_command} {flags} "$@"; fi\n'
            # Without a soname, some linkers write the output's path into the library.
            f'exec {compile_command} {flags} "$@" {link_flags} -Wl,-soname,model.so\n'
        )


def package(
    model: Path, entry_point: str, import_paths: Sequence[Path] = (), *, compiler: Compiler, scratch: Path, output: Path
) -> tuple[bytes, list[str]]:
    """Compiles a model file into a package.

    Args:
        model: the Python file.
        entry_point: the name of the function in it that returns the model.
        import_paths: folders of the user's own modules, for error messages. The caller has put them on sys.path.
        compiler: the C++ compiler.
        scratch: an empty folder, the value of $TORCHINDUCTOR_CACHE_DIR.
        output: where to write the package.
    Returns:
        The bytes of the samples (.ptd), and the names of the operators that other libraries than PyTorch define.
    Raises:
        InputError: the model file is invalid, or PyTorch refused the model.
    """
    torch.set_num_threads(1)  # With one thread, a reduction has the same result on every machine.
    method = _only(model_file.load(model, entry_point, import_paths, rule="torch_aoti_package").methods, entry_point)
    # Samples are recorded before the export, which may change the module.
    runs = zip(method.samples, samples.record(method).samples, strict=True)
    recorded = [_tensors_only(inputs, sample) for inputs, sample in runs]
    cxx = scratch / "cxx"
    environment = Path(torch.__file__ or "").parents[1]
    cxx.write_text(compiler.script([scratch, environment, environment.resolve()]))
    cxx.chmod(0o755)
    exported = trace(method, recorded)
    operators = _operators(method, exported)
    metadata = _metadata(recorded, operators)
    package_aoti(str(output), {"model": _compile(method, exported, _options(cxx, compiler.native, metadata))})
    return samples.serialize({method.name: recorded}), operators


def _only(methods: Sequence[Method], entry_point: str) -> Method:
    if len(methods) == 1 and methods[0].name == "forward":
        return methods[0]
    raise InputError.of(
        methods[0].at,
        f"expected one method, forward; {entry_point}() gives the methods"
        f" {', '.join(method.name for method in methods)}",
        "the model file was written for an ExecuTorch program of several methods.",
        "write a function that returns (module, example inputs) for each method, and a torch_aoti_package for each"
        " function, with `entry_point`.",
        id="several-methods",
    )


def _options(cxx: Path, native: bool, metadata: dict[str, str]) -> dict[str, Any]:
    """Returns AOTInductor's settings. Without `native`, no setting depends on the machine."""
    options: dict[str, Any] = {
        "aot_inductor.package": True,
        "aot_inductor.enable_line_tables": False,  # Line tables hold paths.
        "aot_inductor.metadata": metadata,
        "aot_inductor.model_name_for_generated_files": "model",
        "aot_inductor.precompile_headers": False,  # Precompiled headers save no time for a single compilation.
        "compile_threads": 1,
        "cpp.cxx": (None, str(cxx)),
        "cpp.dynamic_threads": True,
    }
    if not native:
        options |= {"cpp.march": "", "cpp.simdlen": 1, "cpp.vec_isa_ok": False}
    return options


def _compile(method: Method, exported: torch.export.ExportedProgram, options: dict[str, Any]) -> list[Any]:
    args, kwargs = exported.example_inputs or ((), {})
    try:
        with torch.no_grad():
            files: Any = torch._inductor.aot_compile(exported.module(check_guards=False), args, kwargs, options=options)
    except BaseException as error:
        raise method.source.failure(
            f"AOTInductor's compilation of {method.name}()",
            error,
            at=method.at,
            cause="the exported graph has something that AOTInductor does not support, or the C++ compiler failed.",
            fix=f"{SHOW_MORE}; simplify the module until it compiles.",
            message=condense(text_of(error)),
        ) from error
    # A loader does not use the generated sources, which also contain the compile commands.
    return [file for file in files if not (isinstance(file, str) and file.endswith(".cpp"))]


def _metadata(recorded: Sequence[Sample], operators: Sequence[str]) -> dict[str, str]:
    """Returns the package's metadata, from which runtime/aoti/runner.cpp reads the method's inputs and outputs."""
    return {
        "rules_executorch.inputs": _layouts(recorded[0].inputs),
        "rules_executorch.operators": ",".join(operators),
        "rules_executorch.outputs": _layouts(recorded[0].outputs),
    }


def _layouts(values: Sequence[Value | None]) -> str:
    """Returns `dtype:sizes:dim order;` for each value, and `;` for None."""
    texts = []
    for value in values:
        if value is None:
            texts.append(";")
        else:
            sizes, dim_order = (",".join(map(str, n)) for n in (value.layout.sizes, value.layout.dim_order))
            texts.append(f"{int(value.layout.scalar_type)}:{sizes}:{dim_order};")
    return "".join(texts)


def _tensors_only(inputs: Inputs, sample: Sample) -> Sample:
    """Removes the inputs that are not tensors. torch.export compiles their values into the package as constants."""
    pairs = zip(sample.inputs, inputs.flatten()[0], strict=True)
    return replace(sample, inputs=tuple(value for value, leaf in pairs if isinstance(leaf, torch.Tensor)))


def _operators(method: Method, exported: torch.export.ExportedProgram) -> list[str]:
    """Returns the operators of a method that other libraries than PyTorch define.

    Raises:
        InputError: an operator exists in Python only.
    """
    found = set()
    # Composite operators are decomposed first, as AOTInductor decomposes them.
    for graph_module in exported.run_decompositions().graph_module.modules():
        for node in graph_module.graph.nodes if isinstance(graph_module, torch.fx.GraphModule) else ():
            if isinstance(node.target, torch._ops.OpOverload) and node.target.namespace not in _COMPILED_IN:
                found.add(node.target.name())
    for name in sorted(found):
        if place := _in_python(name):
            raise _python_only(method, name, place)
    return sorted(found - _OF_PYTORCH)


def _in_python(operator: str) -> str:
    """Returns the place in Python that registers an operator or its CPU kernel; empty if C++ registers both."""
    places = [
        (path, line)
        for key, path, line in _REGISTERED_IN_PYTHON.findall(torch._C._dispatch_dump(operator))
        if key == "debug" or key in _CPU_KEYS
    ]
    definition = torch._library.custom_ops.OPDEFS.get(operator)
    if definition:
        code = definition._init_fn.__code__
        places.insert(0, (code.co_filename, str(code.co_firstlineno)))
    return ":".join(places[0]) if places else ""


def _python_only(method: Method, operator: str, place: str) -> InputError:
    namespace, _, name = operator.partition("::")
    return InputError.of(
        method.at,
        f"{method.name}() calls {operator}, which exists in Python only",
        "torch.library registers the operator in Python; a package of AOTInductor runs without Python.",
        f'write its kernel in C++, TORCH_LIBRARY_FRAGMENT({namespace}, m) {{ m.def("{name}(...) -> ..."); }} and'
        f" TORCH_LIBRARY_IMPL({namespace}, CPU, m), in a library for PyTorch that both the package and the binary"
        " have in `deps`.",
        (f"registered at {_relative(place)}",),
        id="python-only-operator",
    )


def _relative(place: str) -> str:
    path = os.path.relpath(place)
    return place if path.startswith("..") else path
