"""Rule executorch_weights."""

load("//rules/private/providers:et_program_info.bzl", "EtProgramInfo")
load("//rules/private/providers:et_weights_info.bzl", "EtWeightsInfo")

visibility(["//rules/..."])

NO_WEIGHTS_ERR = """{label}: attribute programs: expected programs with constants in another file; {program} has its constants.

Likely cause: {program} was exported without weights = "external".
Fix: set weights = "external" of {program}.
See: docs/errors.md#no-weights"""

def _executorch_weights_impl(ctx):
    infos = [program[EtProgramInfo] for program in ctx.attr.programs]
    for program, info in zip(ctx.attr.programs, infos):
        if not info.weights:
            fail(NO_WEIGHTS_ERR.format(label = ctx.label, program = program.label))
    files = [info.weights for info in infos]
    output = ctx.actions.declare_file(ctx.label.name + ".weights.ptd")
    args = ctx.actions.args()
    args.add_all(files, format_each = "--weights=%s")
    args.add(output, format = "--output=%s")
    ctx.actions.run(
        executable = ctx.executable._merge,
        arguments = [args],
        inputs = files,
        outputs = [output],
        mnemonic = "EtWeights",
        progress_message = "Merging the weights %{label}",
    )
    return [
        DefaultInfo(files = depset([output])),
        EtWeightsInfo(programs = [info.program for info in infos], weights = output),
    ]

executorch_weights = rule(
    doc = """The constants of several programs in one file, `<name>.weights.ptd`. Equal constants are in the file once.

The attribute `weights` of an `executorch_binary` or an `executorch_program_test` of one of the programs names the file. [The
guide](weights.md) has an example.""",
    implementation = _executorch_weights_impl,
    attrs = {
        "programs": attr.label_list(
            doc = "The programs, each an `executorch_program` with `weights = \"external\"`.",
            mandatory = True,
            allow_empty = False,
            providers = [EtProgramInfo],
        ),
        "_merge": attr.label(
            default = "//export:weights",
            executable = True,
            cfg = "exec",
        ),
    },
    provides = [EtWeightsInfo],
)
