"""Rule executorch_prebuilt_kernels."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load(":et_prebuilt_kernels_info.bzl", "EtPrebuiltKernelsInfo")
load(":label_text.bzl", "label_text")

visibility(["//rules/..."])

def _executorch_prebuilt_kernels_impl(ctx):
    operators = ctx.actions.declare_file(ctx.label.name + ".operators")
    ctx.actions.run_shell(
        command = '"$1" > "$2"',
        arguments = [ctx.executable.lister.path, operators.path],
        tools = [ctx.attr.lister[DefaultInfo].files_to_run],
        outputs = [operators],
        mnemonic = "EtListOperators",
        progress_message = "Listing operators of %{label}",
    )
    return [
        DefaultInfo(runfiles = ctx.attr.library[DefaultInfo].default_runfiles),
        ctx.attr.library[CcInfo],
        EtPrebuiltKernelsInfo(label = label_text(ctx.label), operators = operators),
        OutputGroupInfo(operators = depset([operators])),
    ]

executorch_prebuilt_kernels = rule(
    doc = """A prebuilt library that registers kernels when it is loaded, and what it registers.

The checks of a binary know a library in this form; in another they cannot look into it.""",
    implementation = _executorch_prebuilt_kernels_impl,
    attrs = {
        "library": attr.label(
            doc = "The library.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "lister": attr.label(
            doc = "A binary that links the library and prints the operators that are registered, one on a line.",
            mandatory = True,
            executable = True,
            cfg = "exec",
        ),
    },
    provides = [CcInfo, EtPrebuiltKernelsInfo],
)
