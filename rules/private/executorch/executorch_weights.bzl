"""Rule executorch_weights."""

load("//rules/private/actions:implicit_attributes.bzl", "tool_dependency")
load("//rules/private/providers:et_program_info.bzl", "EtProgramInfo")
load("//rules/private/providers:et_weights_info.bzl", "EtWeightsInfo", "weights_of")

visibility(["//rules/..."])

NO_WEIGHTS_ERR = """{label}: attribute programs: expected programs with constants in another file; {program} has its constants.

Likely cause: {program} was exported without weights = "external".
Fix: set weights = "external" of {program}.
See: docs/errors.md#no-weights"""

BASE_WITHOUT_WEIGHTS_ERR = """{label}: attribute base: expected constants in files of their own; {base} has its constants.

Likely cause: {base} was exported without weights = "external", or is a plain .pte file.
Fix: set weights = "external" of {base}, or name an executorch_weights or .ptd files.
See: docs/errors.md#no-weights"""

def _base(ctx):
    """Returns the EtWeightsInfo of the base; of no base, one without files."""
    if not ctx.attr.base:
        return EtWeightsInfo(files = [], programs = [])
    base = weights_of(ctx.attr.base)
    if not base:
        fail(BASE_WITHOUT_WEIGHTS_ERR.format(base = ctx.attr.base.label, label = ctx.label))
    return base

def _executorch_weights_impl(ctx):
    infos = [program[EtProgramInfo] for program in ctx.attr.programs]
    for program, info in zip(ctx.attr.programs, infos):
        if not info.weights:
            fail(NO_WEIGHTS_ERR.format(label = ctx.label, program = program.label))
    files = [info.weights for info in infos]
    base = _base(ctx)
    output = ctx.actions.declare_file(ctx.label.name + ".weights.ptd")
    args = ctx.actions.args()
    args.add_all(files, format_each = "--weights=%s")
    args.add_all(base.files, format_each = "--base=%s")
    args.add(output, format = "--output=%s")
    ctx.actions.run(
        executable = ctx.executable._merge,
        arguments = [args],
        inputs = files + base.files,
        outputs = [output],
        mnemonic = "EtWeights",
        progress_message = "Merging the weights %{label}",
    )
    outputs = base.files + [output]
    return [
        DefaultInfo(files = depset([output]), runfiles = ctx.runfiles(outputs)),
        EtWeightsInfo(
            files = outputs,
            programs = [info.program for info in infos] + (base.programs or []),
        ),
    ]

executorch_weights = rule(
    doc = """The constants of several programs in one file, `<name>.weights.ptd`. Equal constants are in the file once.

With `base`, the file has the constants that the files of the base do not have, such as those of an adapter. Programs then need
the files of the base, too, and a base may have a base itself.

The attribute `weights` of an `executorch_binary`, an `executorch_program_test` or an `executorch_python_library` of one of the
programs names the target. `DefaultInfo` has the file, and all needed files as runfiles. [The guide](weights.md) has examples.""",
    implementation = _executorch_weights_impl,
    attrs = {
        "base": attr.label(
            doc = "The constants that the file does not get: an `executorch_weights`, an `executorch_program` with " +
                  "`weights = \"external\"`, or .ptd files. Default: none.",
            allow_files = [
                ".ptd",
                ".pte",
            ],
        ),
        "programs": attr.label_list(
            doc = "The programs, each an `executorch_program` with `weights = \"external\"`.",
            mandatory = True,
            allow_empty = False,
            providers = [EtProgramInfo],
        ),
        "_merge": tool_dependency("//export:weights"),
    },
    provides = [EtWeightsInfo],
)
