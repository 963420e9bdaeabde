"""Rule executorch_program."""

load("//rules/private/actions:model_file.bzl", "MODEL_FILE_ATTRS", "model_file_args", "model_file_inputs")
load("//rules/private/providers:et_program_info.bzl", "EtProgramInfo")

visibility(["//rules/..."])

def _executorch_program_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name + ".pte")
    samples = ctx.actions.declare_file(ctx.label.name + ".ptd")
    args = model_file_args(ctx)
    args.add("--program", program)
    args.add("--samples", samples)
    ctx.actions.run(
        executable = ctx.executable._export,
        arguments = [args],
        inputs = model_file_inputs(ctx, ctx.attr._export),
        outputs = [program, samples],
        env = {"PYTHONHASHSEED": "0"},
        mnemonic = "EtExport",
        progress_message = "Exporting %{label}",
    )
    files = depset([program, samples])
    return [
        DefaultInfo(files = depset([program]), runfiles = ctx.runfiles(transitive_files = files)),
        EtProgramInfo(program = program, samples = samples),
        OutputGroupInfo(samples = depset([samples])),
    ]

executorch_program = rule(
    doc = """Exports a PyTorch model in a build action: `<name>.pte`, with `<name>.ptd` beside it.

`model` is a Python file whose entry point returns the module and its example inputs; export/README.md has the whole
contract. The .ptd holds sample inputs with PyTorch's eager outputs, against which `executorch_program_test` judges.""",
    implementation = _executorch_program_impl,
    attrs = MODEL_FILE_ATTRS | {
        "_export": attr.label(
            default = "//export",
            executable = True,
            cfg = "exec",
        ),
    },
    provides = [EtProgramInfo],
)
