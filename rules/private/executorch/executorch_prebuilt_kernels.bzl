"""Rule executorch_prebuilt_kernels."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:kept_libraries.bzl", "kept_libraries")
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
        kept_libraries(ctx.label, ctx.attr.library[CcInfo]),
        EtPrebuiltKernelsInfo(
            label = label_text(ctx.label),
            linker_inputs = ctx.attr.library[CcInfo].linking_context.linker_inputs,
            operators = operators,
        ),
        OutputGroupInfo(operators = depset([operators])),
    ]

executorch_prebuilt_kernels = rule(
    doc = """Declares the registered operators of a library whose files do not show them.

Use this rule for a prebuilt library, or for a library whose own code calls `register_kernels()`. The checks of a binary then know
the operators that the library registers. Without this rule, the checks only report that the library registers unknown kernels.
`//runtime:kernels_optimized` and `//runtime:kernels_quantized` are the kernel libraries of the executorch wheel.""",
    implementation = _executorch_prebuilt_kernels_impl,
    attrs = {
        "library": attr.label(
            doc = "The library.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "lister": attr.label(
            doc = "A binary that links the library and prints the registered operators, one a line.",
            mandatory = True,
            executable = True,
            cfg = "exec",
        ),
    },
    provides = [CcInfo, EtPrebuiltKernelsInfo],
)
