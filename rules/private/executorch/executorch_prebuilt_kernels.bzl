"""Rule executorch_prebuilt_kernels."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/providers:et_prebuilt_kernels_info.bzl", "EtPrebuiltKernelsInfo")

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
        EtPrebuiltKernelsInfo(
            label = label_text(ctx.label),
            linker_inputs = ctx.attr.library[CcInfo].linking_context.linker_inputs,
            operators = operators,
        ),
        OutputGroupInfo(operators = depset([operators])),
    ]

executorch_prebuilt_kernels = rule(
    doc = """A library that registers kernels in a way that cannot be read from its files, and what it registers.

For a prebuilt library, or one whose own code calls `register_kernels()`. In this form, the checks of a binary know what the
library registers; of other such libraries they can only note that kernels are registered. `//runtime:kernels_optimized` and
`//runtime:kernels_quantized` are those of the executorch wheel.""",
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
