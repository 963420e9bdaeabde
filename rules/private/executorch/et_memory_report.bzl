"""Rule et_memory_report."""

load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "codegen_args", "run_codegen")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/providers:et_program_info.bzl", "program_of")
load(":program_weights.bzl", "WEIGHTS_ATTRS", "weights_files")
load(":report_limits.bzl", "declare_report", "read_limits", "report_providers")

visibility(["//rules/..."])

def _et_memory_report_impl(ctx):
    limits = read_limits(ctx, ["max_bytes", "max_planned_bytes"])
    info = program_of(ctx.attr.program)
    origins = [info.origins] if info.origins else []
    others = []
    args = codegen_args(ctx, "memory")
    args.add(label_text(ctx.attr.program.label), format = "--label=%s")
    args.add(info.program, format = "--program=%s")
    args.add_all(origins, format_each = "--origins=%s")
    weights = weights_files(ctx, info)
    args.add_all(weights, format_each = "--weights=%s")
    for other in ctx.attr.what_if:
        program = program_of(other).program
        args.add("--what_if={}\t{}".format(label_text(other.label), program.path))
        others.append(program)
    report = declare_report(ctx, args)
    run_codegen(
        ctx,
        args,
        inputs = [info.program] + weights + origins + others,
        outputs = report,
        mnemonic = "EtMemory",
        progress_message = "Reading the memory plan of %{label}",
    )
    return report_providers(ctx, report, limits, mnemonic = "EtMemoryLimit", subject = "memory")

et_memory_report = rule(
    doc = """A report of the memory that a program needs: its planned memory over the instructions, and its constants.

The outputs are `<name>.txt`, `<name>.json` and `<name>.html`, a self-contained web page with a picture of the planned memory. Each
output is also an output group: `text`, `json`, `html`. [The guide](memory.md) explains the parts of a report.

For each method, the report shows the instruction at which the most planned memory is in use, and the tensors that are in memory
then. Each tensor has the lines of Python that make and last read the tensor. The scratch memory of kernels depends on the machine: the runner
of the program measures it (`--memory`).""",
    implementation = _et_memory_report_impl,
    attrs = WEIGHTS_ATTRS | {
        "max_bytes": attr.int(
            doc = "The limit of the bytes of the program's files and of the planned memory of the method with the most. The build fails " +
                  "if the program needs more, but still writes the report. Default: no limit.",
        ),
        "max_planned_bytes": attr.int(
            doc = "The limit of the bytes of planned memory, as where constants stay in flash memory. The build fails if a method " +
                  "needs more, but still writes the report. Default: no limit.",
        ),
        "program": attr.label(
            doc = "An `executorch_program` or a .pte file, which has no lines of Python.",
            allow_single_file = [".pte"],
            mandatory = True,
        ),
        "what_if": attr.label_list(
            doc = "Other programs, such as the same model for a larger batch. The report shows their bytes beside those of `program`.",
            allow_files = [".pte"],
        ),
    },
    exec_groups = CODEGEN_EXEC_GROUPS,
)
