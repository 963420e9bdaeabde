"""Rule executorch_ops_check."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS")
load("//rules/private/toolchains:find_runtime.bzl", "use_runtime")
load(":registrations.bzl", "check_registrations", "registrations_aspect")

visibility(["//rules/..."])

def _executorch_ops_check_impl(ctx):
    report = check_registrations(ctx, ctx.attr.deps)
    return [
        DefaultInfo(files = depset([report])),
        OutputGroupInfo(_validation = depset([report])),
    ]

executorch_ops_check = rule(
    doc = """Fails to build if two of the libraries register a kernel for the same operator and key.

Use this rule for the libraries of your own binary. Each `executorch_binary` and `executorch_program_test` checks its libraries
itself. The output is a report of the operators and the libraries that register them.""",
    implementation = _executorch_ops_check_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "C++ libraries. Their transitive dependencies are checked, too.",
            mandatory = True,
            allow_empty = False,
            aspects = [registrations_aspect],
            providers = [CcInfo],
        ),
    },
    exec_groups = CODEGEN_EXEC_GROUPS,
    fragments = ["platform"],
    toolchains = use_runtime(),
)
