"""Rule executorch_selected_prim_ops."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "codegen_args", "run_codegen")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/providers:et_operator_info.bzl", "EtOperatorInfo")

visibility(["//rules/..."])

def _executorch_selected_prim_ops_impl(ctx):
    united = ctx.actions.declare_file(ctx.label.name + "/selected_operators.yaml")
    header = ctx.actions.declare_file(ctx.label.name + "/selected_prim_ops.h")
    selections = [dep[EtOperatorInfo].selected_operators for dep in ctx.attr.deps if EtOperatorInfo in dep]
    args = codegen_args(ctx, "select")
    args.add("--label", label_text(ctx.label))
    args.add("--output", united)
    args.add("--prim_ops_header", header)
    args.add_all(selections, before_each = "--selection")
    run_codegen(
        ctx,
        args,
        inputs = selections,
        outputs = [united, header],
        mnemonic = "EtSelect",
        progress_message = "Selecting the runtime's own operators for %{label}",
    )
    return [
        DefaultInfo(files = depset([header])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            defines = depset(["ET_PRIM_OPS_SELECTIVE_BUILD"]),
            headers = depset([header]),
            includes = depset([header.dirname]),
        )),
    ]

executorch_selected_prim_ops = rule(
    doc = """The header `selected_prim_ops.h` of selections, and the definition ET_PRIM_OPS_SELECTIVE_BUILD, with which ExecuTorch's
register_prim_ops.cpp includes the header.""",
    implementation = _executorch_selected_prim_ops_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "Selections, united; other libraries are ignored.",
            providers = [[EtOperatorInfo], [CcInfo]],
        ),
    },
    exec_groups = CODEGEN_EXEC_GROUPS,
    provides = [CcInfo],
)
