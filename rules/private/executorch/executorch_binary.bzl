"""Rules executorch_binary and executorch_program_test."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS")
load("//rules/private/actions:link_runner.bzl", "TOLERANCE_ATTRS", "link_runner")
load("//rules/private/providers:et_program_info.bzl", "program_of")
load("//rules/private/toolchains:toolchain_types.bzl", "RUNTIME_TOOLCHAIN_TYPE")
load(":registrations.bzl", "check_registrations", "registrations_aspect")

visibility(["//rules/..."])

NO_SAMPLES_ERR = """{label}: {program} has no sample inputs with outputs to test against.

Likely cause: program is a plain .pte file.
Fix: use an executorch_program, which gives the samples, or executorch_binary to only run it.
See: docs/errors.md#no-samples"""

def _executable(ctx, check):
    info = program_of(ctx.attr.program) if ctx.attr.program else None
    program = info.program if info else None
    samples = info.samples if info else None
    if check and not samples:
        fail(NO_SAMPLES_ERR.format(label = ctx.label, program = ctx.attr.program.label))
    executable, libraries = link_runner(ctx, "runtime/runner/runner.h", "RunnerMain", program, samples, check)
    report = check_registrations(ctx, ctx.attr.deps, program, ctx.attr.program.label if program else None)
    files = [f for f in [program, samples] if f] + libraries + ctx.files.data
    return [
        DefaultInfo(
            executable = executable,
            files = depset([executable]),
            runfiles = ctx.runfiles(files).merge_all([
                dep[DefaultInfo].default_runfiles
                for dep in ctx.attr.deps + ctx.attr.data + [ctx.attr._runner]
            ]),
        ),
        OutputGroupInfo(_validation = depset([report]), operators = depset([report])),
    ]

_ATTRS = {
    "data": attr.label_list(
        doc = "Files that are there when the binary runs, e.g. inputs.",
        allow_files = True,
    ),
    "deps": attr.label_list(
        doc = "Libraries that register operators: `executorch_generated_lib`, or any C++ library.",
        aspects = [registrations_aspect],
        providers = [CcInfo],
    ),
    "linkopts": attr.string_list(doc = "Options for the linker."),
    "_runner": attr.label(
        default = "//runtime:runner",
        providers = [CcInfo],
    ),
}

executorch_binary = rule(
    doc = """A runner for a program: loads it, runs it, prints shapes, dtypes, values and times; `--help` says all.

The build fails if two libraries of `deps` register the same kernel, or if `program` needs an operator or a dtype that no
library registers. The output group `operators` is a report of the operators, with the library of each and
with those that run with PyTorch's kernels.""",
    implementation = lambda ctx: _executable(ctx, check = False),
    attrs = _ATTRS | {
        "program": attr.label(
            doc = "The program that runs by default: an `executorch_program` or a .pte file. Without it, give --program.",
            allow_single_file = [".pte"],
        ),
    },
    executable = True,
    exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp"],
    toolchains = use_cc_toolchain() + [RUNTIME_TOOLCHAIN_TYPE],
)

executorch_program_test = rule(
    doc = "Tests that a program's outputs equal PyTorch's.",
    implementation = lambda ctx: _executable(ctx, check = True),
    attrs = _ATTRS | TOLERANCE_ATTRS | {
        "program": attr.label(
            doc = "The `executorch_program`.",
            mandatory = True,
            allow_single_file = [".pte"],
        ),
    },
    exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp"],
    test = True,
    toolchains = use_cc_toolchain() + [RUNTIME_TOOLCHAIN_TYPE],
)
