"""Rule et_size_report."""

load("//rules/private/actions:cc.bzl", "group_cc_toolchain")
load(
    "//rules/private/actions:codegen.bzl",
    "CODEGEN_EXEC_GROUPS",
    "SYMBOLS_EXEC_GROUPS",
    "codegen_args",
    "run_codegen",
)
load("//rules/private/actions:label_text.bzl", "label_text")
load(":registrations.bzl", "generated_libraries_of", "registrations_aspect")
load(":report_limits.bzl", "declare_report", "read_limits", "report_providers")

visibility(["//rules/..."])

NO_BINARY_ERR = """{label}: attribute what_if: expected a binary; got {other}.

Likely cause: {other} is a library or a selection. The report reads the size of an operator from a binary that has the operator.
Fix: give an executorch_binary or a cc_binary with the other models.
See: docs/errors.md#what-if-without-binary"""

def _is_shared_library(file):
    return file.basename.endswith((".so", ".dylib")) or ".so." in file.basename

def _et_size_report_impl(ctx):
    limits = read_limits(ctx, ["max_bytes"])
    for other in ctx.attr.what_if:
        if not other[DefaultInfo].files_to_run.executable:
            fail(NO_BINARY_ERR.format(label = ctx.label, other = other.label))
    binary = ctx.executable.binary
    others = [other[DefaultInfo].files_to_run.executable for other in ctx.attr.what_if]
    libraries = [
        file
        for file in ctx.attr.binary[DefaultInfo].default_runfiles.files.to_list()
        if _is_shared_library(file)
    ]
    manifests = generated_libraries_of(ctx.attr.binary)
    cc_toolchain = group_cc_toolchain(ctx, "symbols")
    args = codegen_args(ctx, "size")
    args.add(label_text(ctx.attr.binary.label), format = "--label=%s")
    args.add(cc_toolchain.nm_executable, format = "--nm=%s")
    if cc_toolchain.objdump_executable:
        args.add(cc_toolchain.objdump_executable, format = "--objdump=%s")
    args.add(binary, format = "--binary=%s")
    args.add_all(manifests, format_each = "--manifest=%s")
    args.add_all(libraries, format_each = "--library=%s")
    for other in ctx.attr.what_if:
        label = label_text(other.label)
        args.add("--what_if={}\t{}".format(label, other[DefaultInfo].files_to_run.executable.path))
        args.add_all(generated_libraries_of(other), format_each = "--what_if_manifest={}\t%s".format(label.replace("%", "%%")))
    if ctx.file.baseline:
        args.add(ctx.file.baseline, format = "--baseline=%s")
    report = declare_report(ctx, args)
    run_codegen(
        ctx,
        args,
        exec_group = "symbols",
        inputs = depset(
            [binary] + libraries + others + ctx.files.baseline,
            transitive = [manifests, cc_toolchain.all_files] + [generated_libraries_of(other) for other in ctx.attr.what_if],
        ),
        outputs = report,
        mnemonic = "EtSize",
        progress_message = "Measuring %{label}",
    )
    return report_providers(ctx, report, limits, mnemonic = "EtSizeLimit", subject = "size")

et_size_report = rule(
    doc = """A report of the bytes of a binary: operators by dtype, registration, the runner, the runtime, and the rest.

The outputs are `<name>.txt`, `<name>.json` and `<name>.html`, a self-contained web page with a treemap. Each output is also an
output group: `text`, `json`, `html`. [The guide](size.md) explains the parts of a report.

The report counts each byte of the loaded sections of the binary once. The report also lists the shared libraries of the
binary.""",
    implementation = _et_size_report_impl,
    attrs = {
        "baseline": attr.label(
            doc = "The JSON of another report, such as the report of a release. The text and the page show the changes.",
            allow_single_file = [".json"],
        ),
        "binary": attr.label(
            doc = "An `executorch_binary` or a `cc_binary`, in the ELF format and not stripped.",
            mandatory = True,
            executable = True,
            cfg = "target",
            aspects = [registrations_aspect],
        ),
        "max_bytes": attr.int(
            doc = "The limit of the binary's bytes, without shared libraries. The build fails if the binary has more bytes, but still " +
                  "writes the report. Default: no limit.",
        ),
        "what_if": attr.label_list(
            doc = "Other binaries with models that the binary lacks. The report shows the operators and bytes that these models would " +
                  "add to the binary.",
            cfg = "target",
            aspects = [registrations_aspect],
        ),
    },
    exec_groups = CODEGEN_EXEC_GROUPS | SYMBOLS_EXEC_GROUPS,
)
