"""Writes a program as C++ classes, one for each method, that call kernels without ExecuTorch's runtime.

    codegen compile --label //app:model --program model.pte --manifest registered.json --header m.h --source m.cpp ...

The kernels are those of a generated library: its registered.json names the kernels, and its NativeFunctions.h or
TypedKernels.h declares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from absl import flags

from codegen.artifacts import origins, registered_operators, selective_build
from codegen.artifacts.origins import Origins
from codegen.artifacts.registered_operators import Library
from codegen.artifacts.selective_build import SelectiveBuild
from codegen.checks import programs
from codegen.commands import define, shared_flags
from codegen.compiled import check, files, memory_report
from codegen.compiled.constants import Constants
from codegen.inputs import program_content_reader, program_reader, tensor_data_reader
from codegen.model import cpp_names
from diagnostics.errors import InputError

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the compiled program")
_PROGRAM = define.required(FLAGS, "program", "The program (.pte).")
_PROGRAM_NAME = define.required(FLAGS, "program_name", "The program's label, for errors and comments.")
_MANIFEST = shared_flags.registered(FLAGS)
_DTYPES = define.several(FLAGS, "dtypes", "The dtypes.json of the library, if the library has dtype_selective_build.")
_NATIVE_FUNCTIONS = define.required(FLAGS, "native_functions", "The include path of the library's NativeFunctions.h.")
_TYPED_KERNELS = define.optional(
    FLAGS,
    "typed_kernels",
    "The include path of the library's TypedKernels.h, for a program that calls the kernels for the processor's "
    "instruction set.",
)
_NAMESPACE = define.required(FLAGS, "cpp_namespace", "The C++ namespace of the classes.")
_INCLUDE = define.required(FLAGS, "include", "The include path of the header.")
_HEADER = define.optional(FLAGS, "header", "Where to write the header.")
_SOURCE = define.optional(FLAGS, "source", "Where to write the source.")
_C_HEADER = define.optional(
    FLAGS, "c_header", "Where to write the header for C. Its include path is that of the header, with _c before .h."
)
_C_SOURCE = define.optional(FLAGS, "c_source", "Where to write the source of the functions for C.")
_CONSTANTS = define.required(FLAGS, "constants", "Where to write the constants, or with --check the samples, as bytes.")
_CONSTANTS_SOURCE = define.optional(
    FLAGS,
    "constants_source",
    "Where to write the same as C++ or, if the name ends in .S, as assembly that includes --constants.",
)
_ORIGINS = define.optional(FLAGS, "origins", "The lines of Python behind the instructions, if the export wrote them.")
_BY_POINTER = flags.DEFINE_bool(
    "constants_by_pointer", False, "Whether the application gives the address of the constants.", flag_values=FLAGS
)
_OPTIMIZE = flags.DEFINE_enum(
    "optimize",
    "speed",
    ["speed", "size"],
    "size: loops in place of the library's kernels, where a call has fixed sizes.",
    flag_values=FLAGS,
)
_MEMORY = define.optional(FLAGS, "memory", "Where to write the report of memory.")
_SAMPLES = define.optional(FLAGS, "samples", "The samples of the export (.ptd), for a program that compares outputs.")
_CHECK = define.optional(FLAGS, "check", "Where to write the source of that program.")
_SCRATCH_BYTES = flags.DEFINE_integer(
    "scratch_bytes",
    None,
    "The bytes of scratch memory that kernels need, or with --check, that the program gives. Default: not known.",
    lower_bound=0,
    flag_values=FLAGS,
)
_ATOL = flags.DEFINE_float("atol", None, "The absolute tolerance. Default: by dtype.", flag_values=FLAGS)
_RTOL = flags.DEFINE_float("rtol", None, "The relative tolerance. Default: by dtype.", flag_values=FLAGS)
_MIN_SNR = flags.DEFINE_float(
    "min_snr", None, "The least signal-to-noise ratio in decibels, in place of a tolerance.", flag_values=FLAGS
)


def run() -> None:
    if not cpp_names.is_possible(_NAMESPACE.value):
        raise InputError.of(
            id="bad-cpp-namespace",
            where=_LABEL.value,
            found=f"the namespace of the classes, '{_NAMESPACE.value}', is a word of C++",
            cause="the name of the target, which is the default, is a word of C++",
            fix=f'give the attribute cpp_namespace, e.g. "{_NAMESPACE.value}_model"',
        )
    names = files.Names(_LABEL.value, _PROGRAM_NAME.value, _NAMESPACE.value, _INCLUDE.value, _NATIVE_FUNCTIONS.value)
    names = names._replace(typed_kernels=_TYPED_KERNELS.value)
    library = registered_operators.read(_MANIFEST.value)
    builds = [selective_build.read(path) for path in _DTYPES.value]
    known = origins.read(_ORIGINS.value) if _ORIGINS.value else origins.NONE
    program = compiled(
        _PROGRAM.value,
        library,
        builds,
        names,
        constants_by_pointer=_BY_POINTER.value,
        is_small=_OPTIMIZE.value == "size",
        scratch_bytes=_SCRATCH_BYTES.value,
        lines=known,
    )
    if _CHECK.value:
        tolerance = check.AskedTolerance(_ATOL.value, _RTOL.value, _MIN_SNR.value)
        samples = tensor_data_reader.read(_given(_SAMPLES))
        checked = check.CheckProgram(program, names, samples, tolerance, _SCRATCH_BYTES.value or 0)
        Path(_CHECK.value).write_text(checked.source())
        _write_constants(checked.symbol, checked.constants)
        return
    # The source adds constants, so the source comes first.
    Path(_given(_SOURCE)).write_text(program.source())
    Path(_given(_HEADER)).write_text(program.header())
    Path(_given(_C_HEADER)).write_text(program.c_header())
    Path(_given(_C_SOURCE)).write_text(program.c_source())
    _write_constants(names.symbol, program.constants)
    if _MEMORY.value:
        Path(_MEMORY.value).write_text(memory_report.text(program, _LABEL.value))


def _given(flag: flags.FlagHolder[str | None]) -> str:
    """Returns the value of a flag that --check requires, or that all other calls require."""
    if flag.value is None:
        raise flags.IllegalFlagValueError(f"--{flag.name} is missing.")
    return flag.value


def compiled(
    path: str,
    library: Library,
    builds: Sequence[SelectiveBuild],
    names: files.Names,
    *,
    constants_by_pointer: bool,
    is_small: bool = False,
    scratch_bytes: int | None = None,
    lines: Origins = origins.NONE,
) -> files.Program:
    """Returns a program in C++.

    Args:
        path: the program's file.
        library: the library with the kernels.
        builds: the dtypes of the kernels, if the library has dtype_selective_build.
        names: the names in the files.
        constants_by_pointer: whether the application gives the address of the constants.
        is_small: whether calls with fixed sizes are loops, where the generator has loops for the operator.
        scratch_bytes: the bytes of scratch memory that kernels need; None if they are not known.
        lines: the lines of Python behind the instructions, if they are known.

    Raises:
        InputError: the program is damaged, does not fit the library, or cannot be compiled.
    """
    calls = program_reader.read(path, names.program).calls
    findings = [
        *programs.other_schemas(names.program, calls, [library]),
        *programs.missing_dtypes(names.program, calls, builds),
    ]
    if findings:
        raise InputError(findings)
    content = program_content_reader.read(path, names.program)
    return files.Program(
        content,
        library,
        names,
        constants_by_pointer,
        is_small=is_small,
        scratch_bytes=scratch_bytes,
        lines=lines,
    )


def _write_constants(symbol: str, constants: Constants) -> None:
    content = constants.content()
    Path(_CONSTANTS.value).write_bytes(content)
    source = _CONSTANTS_SOURCE.value
    if source:
        is_assembly = source.endswith(".S")
        text = (
            files.constants_assembly(symbol, _CONSTANTS.value)
            if is_assembly
            else files.constants_source(symbol, content)
        )
        Path(source).write_text(text)
