"""Rule executorch_program."""

load("@rules_python//python:defs.bzl", "PyInfo")
load(":et_program_info.bzl", "EtProgramInfo")
load(":import_paths.bzl", "import_paths")
load(":label_text.bzl", "label_text")

visibility(["//rules/..."])

def _inputs(ctx):
    """The model's code and what it needs, less what the export tool brings along itself, such as torch."""
    brought = {file: None for file in ctx.attr._export[DefaultInfo].default_runfiles.files.to_list()}
    needed = depset(
        [ctx.file.model],
        transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.deps] +
                     [dep[DefaultInfo].default_runfiles.files for dep in ctx.attr.deps] +
                     [target[DefaultInfo].files for target in ctx.attr.data],
    )
    return [file for file in needed.to_list() if file not in brought]

def _executorch_program_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name + ".pte")
    samples = ctx.actions.declare_file(ctx.label.name + ".ptd")
    args = ctx.actions.args()
    args.add("--label", label_text(ctx.label))
    args.add("--model", ctx.file.model)
    args.add("--entry_point", ctx.attr.entry_point)
    args.add_all(import_paths(ctx, ctx.attr.deps), before_each = "--import_path")
    args.add("--program", program)
    args.add("--samples", samples)
    ctx.actions.run(
        executable = ctx.executable._export,
        arguments = [args],
        inputs = _inputs(ctx),
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
    attrs = {
        "data": attr.label_list(
            doc = "Files that the model's code reads, e.g. a checkpoint.",
            allow_files = True,
        ),
        "deps": attr.label_list(
            doc = "Python libraries that the model's code imports. torch and executorch are there.",
            providers = [PyInfo],
        ),
        "entry_point": attr.string(
            doc = "Function in the model file that returns (torch.nn.Module, tuple of example inputs).",
            default = "get_model",
        ),
        "model": attr.label(
            doc = "The Python file.",
            allow_single_file = [".py"],
            mandatory = True,
        ),
        "_export": attr.label(
            default = "//export",
            executable = True,
            cfg = "exec",
        ),
    },
    provides = [EtProgramInfo],
)
