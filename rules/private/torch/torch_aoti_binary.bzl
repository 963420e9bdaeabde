"""Rules torch_aoti_binary and torch_aoti_test."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS")
load("//rules/private/actions:implicit_attributes.bzl", "cc_dependency")
load("//rules/private/actions:link_runner.bzl", "TOLERANCE_ATTRS", "link_runner")
load("//rules/private/providers:torch_aoti_package_info.bzl", "TorchAotiPackageInfo")
load("//rules/private/providers:torch_op_info.bzl", "TorchOpInfo")
load(":torch_ops_check.bzl", "check_torch_ops", "torch_ops_aspect")

visibility(["//rules/..."])

def _executable(ctx, check):
    info = ctx.attr.package[TorchAotiPackageInfo]
    executable, libraries = link_runner(
        ctx,
        "runtime/aoti/runner.h",
        "AotiRunnerMain",
        info.package,
        info.samples,
        check,
    )
    report = check_torch_ops(ctx, ctx.attr.deps, package = ctx.attr.package.label, needed = info.operators)
    return [
        DefaultInfo(
            executable = executable,
            files = depset([executable]),
            runfiles = ctx.runfiles([info.package, info.samples] + libraries + ctx.files.data).merge_all([
                dep[DefaultInfo].default_runfiles
                for dep in ctx.attr.deps + ctx.attr.data + [ctx.attr._runner]
            ]),
        ),
        OutputGroupInfo(_validation = depset([report])),
    ]

_ATTRS = {
    "data": attr.label_list(
        doc = "Runfiles of the binary, e.g. inputs.",
        allow_files = True,
    ),
    "deps": attr.label_list(
        doc = "The `torch_op_library` targets with the operators that the package calls.",
        aspects = [torch_ops_aspect],
        providers = [CcInfo, TorchOpInfo],
    ),
    "linkopts": attr.string_list(doc = "Options for the linker."),
    "package": attr.label(
        doc = "The `torch_aoti_package`.",
        mandatory = True,
        providers = [TorchAotiPackageInfo],
    ),
    "_runner": cc_dependency("//runtime/aoti:runner"),
}

torch_aoti_binary = rule(
    doc = """A runner for a package of AOTInductor, in C++ without Python. The runner loads the package, runs it on its samples or on
given inputs, and prints shapes, dtypes, values and times. `--help` shows all flags.

The build fails if the package calls an operator without a kernel in PyTorch or in a library of `deps`, or if two libraries
define the same namespace.""",
    implementation = lambda ctx: _executable(ctx, check = False),
    attrs = _ATTRS,
    executable = True,
    exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)

torch_aoti_test = rule(
    doc = "Tests that a package's outputs equal those of eager PyTorch.",
    implementation = lambda ctx: _executable(ctx, check = True),
    attrs = _ATTRS | TOLERANCE_ATTRS,
    exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp"],
    test = True,
    toolchains = use_cc_toolchain(),
)
