"""Rules executorch_binary, executorch_program_test, executorch_profile and executorch_numbers."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS")
load("//rules/private/actions:implicit_attributes.bzl", "cc_dependency", "tool_dependency")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/actions:link_runner.bzl", "TOLERANCE_ATTRS", "link_runner")
load("//rules/private/providers:et_program_info.bzl", "program_of")
load("//rules/private/toolchains:find_runtime.bzl", "use_runtime")
load(":program_weights.bzl", "WEIGHTS_ATTRS", "weights_files")
load(":registrations.bzl", "check_registrations", "registrations_aspect")

visibility(["//rules/..."])

NO_SAMPLES_ERR = """{label}: attribute program: expected a program with sample inputs and their outputs; {program} has none.

Likely cause: {program} is a plain .pte file.
Fix: use an executorch_program, which gives the samples; or, for a runner without a test, executorch_binary.
See: docs/errors.md#no-samples"""

# The tools are Python programs, and their files are in the runfiles of the executable.
_LAUNCHER = """\
#!/bin/sh
# Generated for {label}.
runfiles="${{RUNFILES_DIR:-$0.runfiles}}"
# Through a symlink, the folder is beside what the symlink leads to.
[ -d "$runfiles" ] || runfiles="$(readlink -f "$0").runfiles"
root="$runfiles/{workspace}"
exec "$root/{tool}" --runner="$root/{runner}" --title='{label}' --page='{page}' {of_program}"$@"
"""

def _link(ctx, check, main, name = None, numbers = None):
    """Links the executable. Returns the executable, its runfiles, and the report of operators."""
    info = program_of(ctx.attr.program) if ctx.attr.program else None
    program = info.program if info else None
    samples = info.samples if info else None
    weights = weights_files(ctx, info)
    if check and not samples:
        fail(NO_SAMPLES_ERR.format(label = ctx.label, program = ctx.attr.program.label))
    methods = ctx.attr.methods if check else []
    executable, libraries = link_runner(ctx, "runtime/runner/runner.h", main, program, samples, check, methods, name, weights, numbers)
    report = check_registrations(ctx, ctx.attr.deps, info, ctx.attr.program.label if info else None, methods, weights)
    files = [f for f in [program, samples] if f] + weights + libraries + ctx.files.data
    runfiles = ctx.runfiles(files).merge_all([
        dep[DefaultInfo].default_runfiles
        for dep in ctx.attr.deps + ctx.attr.data + [ctx.attr._runner]
    ])
    return executable, runfiles, report

def _executable(ctx, check, profile):
    main = "ProfilingRunnerMain" if profile else "RunnerMain"
    numbers = label_text(ctx.label) + ".numbers" if ctx.attr.program else None
    executable, runfiles, report = _link(ctx, check, main, numbers = numbers)
    return [
        DefaultInfo(executable = executable, files = depset([executable]), runfiles = runfiles),
        OutputGroupInfo(_validation = depset([report]), operators = depset([report])),
    ]

def _tool(ctx, main, of_program):
    """Links a runner, and writes a script that starts a tool with the runner and files of the program.

    Args:
      ctx: of a rule with attributes _runner and _tool.
      main: str, the runner's main function.
      of_program: dict[str, File | None], the files by the flags of the tool.
    Returns:
      list[Provider]
    """
    runner, runfiles, report = _link(ctx, check = False, main = main, name = ctx.label.name + "_runner")
    launcher = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        launcher,
        _LAUNCHER.format(
            label = label_text(ctx.label),
            of_program = "".join([
                "--{}=\"$root/{}\" ".format(flag, file.short_path)
                for flag, file in of_program.items()
                if file
            ]),
            page = ctx.label.name.rpartition("/")[2] + ".html",
            runner = runner.short_path,
            tool = ctx.executable._tool.short_path,
            workspace = ctx.workspace_name,
        ),
        is_executable = True,
    )
    tool = ctx.attr._tool[DefaultInfo].default_runfiles
    return [
        DefaultInfo(
            executable = launcher,
            files = depset([launcher]),
            runfiles = runfiles.merge(tool).merge(ctx.runfiles([runner] + [file for file in of_program.values() if file])),
        ),
        OutputGroupInfo(_validation = depset([report]), operators = depset([report])),
    ]

def _executorch_profile_impl(ctx):
    info = program_of(ctx.attr.program) if ctx.attr.program else None
    return _tool(ctx, "ProfilingRunnerMain", {
        "built_program": info.program,
        "origins": info.origins,
    } if info else {})

def _executorch_numbers_impl(ctx):
    info = program_of(ctx.attr.program) if ctx.attr.program else None
    return _tool(ctx, "NumbersRunnerMain", {
        "built_program": info.program,
        "eager_nodes": info.eager_nodes,
        "eager_values": info.eager_values,
        "origins": info.eager_origins,
    } if info else {})

_ATTRS = {
    "data": attr.label_list(
        doc = "Runfiles of the binary, e.g. inputs.",
        allow_files = True,
    ),
    "deps": attr.label_list(
        doc = "Libraries that register operators: `executorch_generated_lib`, or any C++ library.",
        aspects = [registrations_aspect],
        providers = [CcInfo],
    ),
    "linkopts": attr.string_list(doc = "Options for the linker."),
} | WEIGHTS_ATTRS

_PROGRAM_ATTRS = {
    "program": attr.label(
        doc = "The program that runs by default: an `executorch_program` or a .pte file. Without this attribute, pass --program.",
        allow_single_file = [".pte"],
    ),
}

def _runner(profile):
    return Label("//runtime:profiling_runner" if profile else "//runtime:runner")

executorch_binary = rule(
    doc = "A runner for a program.",
    implementation = lambda ctx: _executable(ctx, check = False, profile = ctx.attr.profile),
    attrs = _ATTRS | _PROGRAM_ATTRS | TOLERANCE_ATTRS | {
        "profile": attr.bool(
            doc = "Whether the binary has the flags `--profile`, which prints the time by operator and by node, and `--profile=FILE`, " +
                  "which writes an ETDump. Such a binary links ETDump.",
        ),
        "_runner": cc_dependency(_runner),
    },
    executable = True,
    exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp", "platform"],
    toolchains = use_cc_toolchain() + use_runtime(),
)

def _tool_rule(doc, implementation, runner, tool):
    """A rule of a tool that starts a runner of the program and writes a web page."""
    return rule(
        doc = doc,
        implementation = implementation,
        attrs = _ATTRS | _PROGRAM_ATTRS | {
            "_runner": cc_dependency(runner),
            "_tool": tool_dependency(tool, cfg = "target"),
        },
        executable = True,
        exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
        fragments = ["cpp", "platform"],
        toolchains = use_cc_toolchain() + use_runtime(),
    )

executorch_profile = _tool_rule(
    doc = "Profiles a program and writes a web page.",
    implementation = _executorch_profile_impl,
    runner = "//runtime:profiling_runner",
    tool = "//profiles",
)

executorch_numbers = _tool_rule(
    doc = "Compares the results of a program's instructions with PyTorch's values, and writes a web page.",
    implementation = _executorch_numbers_impl,
    runner = "//runtime:numbers_runner",
    tool = "//profiles:numbers",
)

executorch_program_test = rule(
    doc = "Tests that a program's outputs equal PyTorch's.",
    implementation = lambda ctx: _executable(ctx, check = True, profile = False) + [
        RunEnvironmentInfo(environment = ctx.attr.env),
    ],
    attrs = _ATTRS | TOLERANCE_ATTRS | {
        "_runner": cc_dependency("//runtime:runner"),
        "env": attr.string_dict(
            doc = "Environment variables of the test. Default: none.",
        ),
        "methods": attr.string_list(
            doc = "Methods of the program to test, each on its own samples. Default: all methods.",
        ),
        "program": attr.label(
            doc = "The `executorch_program`.",
            mandatory = True,
            allow_single_file = [".pte"],
        ),
    },
    exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp", "platform"],
    test = True,
    toolchains = use_cc_toolchain() + use_runtime(),
)
