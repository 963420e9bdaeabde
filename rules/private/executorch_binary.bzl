"""Rules executorch_binary and executorch_program_test."""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load(":et_program_info.bzl", "program_of")
load(":label_text.bzl", "label_text")
load(":registrations.bzl", "check_registrations", "registrations_aspect")
load(":toolchains.bzl", "CODEGEN_TOOLCHAIN_TYPE", "RUNTIME_TOOLCHAIN_TYPE")

visibility(["//rules/..."])

NO_SAMPLES_ERR = """{label}: {program} has no sample inputs with outputs to test against.

Likely cause: program is a plain .pte file.
Fix: use an executorch_program, which gives the samples, or executorch_binary to only run it.
See: docs/errors.md#no-samples"""

BAD_TOLERANCE_ERR = """{label}: attribute {attribute} is "{value}", not a number.

Fix: give a decimal number of at least 0, e.g. {attribute} = "1e-4".
See: docs/errors.md#bad-tolerance"""

_DEFAULT_TOLERANCE = "1e-5"

_MAIN = """\
// Generated for {label}.
#include "runtime/runner.h"

int main(int argc, char** argv) {{
  return rules_executorch::RunnerMain(
      argc, argv, {{/*program=*/"{program}", /*samples=*/"{samples}", /*check=*/{check}, /*rtol=*/{rtol}, /*atol=*/{atol}}});
}}
"""

def _runfiles_path(ctx, file):
    if not file:
        return ""
    path = file.short_path
    return path.removeprefix("../") if path.startswith("../") else ctx.workspace_name + "/" + path

def _dynamic_libraries(linking_contexts):
    return [
        file
        for context in linking_contexts
        for linker_input in context.linker_inputs.to_list()
        for library in linker_input.libraries
        for file in [library.dynamic_library]
        if file and not (library.static_library or library.pic_static_library)
    ]

def _link(ctx, program, samples, check):
    cc_toolchain = find_cc_toolchain(ctx)
    feature_configuration = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    main = ctx.actions.declare_file(ctx.label.name + ".main.cpp")
    ctx.actions.write(main, _MAIN.format(
        label = label_text(ctx.label),
        program = _runfiles_path(ctx, program),
        samples = _runfiles_path(ctx, samples),
        check = "true" if check else "false",
        rtol = ctx.attr.rtol if check else _DEFAULT_TOLERANCE,
        atol = ctx.attr.atol if check else _DEFAULT_TOLERANCE,
    ))
    deps = [ctx.attr._runner[CcInfo]] + [dep[CcInfo] for dep in ctx.attr.deps]
    _, objects = cc_common.compile(
        name = ctx.label.name,
        actions = ctx.actions,
        cc_toolchain = cc_toolchain,
        feature_configuration = feature_configuration,
        srcs = [main],
        compilation_contexts = [dep.compilation_context for dep in deps],
    )
    linking_contexts = [dep.linking_context for dep in deps]
    linked = cc_common.link(
        name = ctx.label.name,
        actions = ctx.actions,
        cc_toolchain = cc_toolchain,
        feature_configuration = feature_configuration,
        compilation_outputs = objects,
        linking_contexts = linking_contexts,
        user_link_flags = ctx.attr.linkopts,
    )
    return linked.executable, _dynamic_libraries(linking_contexts)

def _check_tolerances(ctx):
    for attribute in ["rtol", "atol"]:
        value = getattr(ctx.attr, attribute)
        mantissa, _, exponent = value.lower().partition("e")
        parts = [mantissa.replace(".", "", 1), exponent.removeprefix("-").removeprefix("+") if "e" in value.lower() else "0"]
        if [part for part in parts if not part.isdigit()]:
            fail(BAD_TOLERANCE_ERR.format(label = ctx.label, attribute = attribute, value = value))

def _executable(ctx, check):
    info = program_of(ctx.attr.program) if ctx.attr.program else None
    program = info.program if info else None
    samples = info.samples if info else None
    if check and not samples:
        fail(NO_SAMPLES_ERR.format(label = ctx.label, program = ctx.attr.program.label))
    if check:
        _check_tolerances(ctx)
    executable, libraries = _link(ctx, program, samples, check)
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

The build fails if two libraries of `deps` register the same kernel, or if `program` needs an operator that none of them
registers; the report of the operators and where each comes from is the output group `operators`.""",
    implementation = lambda ctx: _executable(ctx, check = False),
    attrs = _ATTRS | {
        "program": attr.label(
            doc = "The program that runs by default: an `executorch_program` or a .pte file. Without it, give --program.",
            allow_single_file = [".pte"],
        ),
    },
    executable = True,
    fragments = ["cpp"],
    toolchains = use_cc_toolchain() + [CODEGEN_TOOLCHAIN_TYPE, RUNTIME_TOOLCHAIN_TYPE],
)

executorch_program_test = rule(
    doc = """Tests that a program's outputs equal PyTorch's on every sample, within `atol + rtol * |expected|`.

The samples and PyTorch's eager outputs come from the `executorch_program`.""",
    implementation = lambda ctx: _executable(ctx, check = True),
    attrs = _ATTRS | {
        "atol": attr.string(
            doc = "Absolute tolerance, a decimal number. Default: 1e-5.",
            default = _DEFAULT_TOLERANCE,
        ),
        "program": attr.label(
            doc = "The `executorch_program`.",
            mandatory = True,
            allow_single_file = [".pte"],
        ),
        "rtol": attr.string(
            doc = "Relative tolerance, a decimal number. Default: 1e-5.",
            default = _DEFAULT_TOLERANCE,
        ),
    },
    fragments = ["cpp"],
    test = True,
    toolchains = use_cc_toolchain() + [CODEGEN_TOOLCHAIN_TYPE, RUNTIME_TOOLCHAIN_TYPE],
)
