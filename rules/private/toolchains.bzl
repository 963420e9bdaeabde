"""The two toolchain types: what generates code (exec), and the runtime that it is generated for (target)."""

load("@rules_cc//cc:defs.bzl", "CcInfo")

visibility(["//rules/..."])

CODEGEN_TOOLCHAIN_TYPE = Label("//rules:codegen_toolchain_type")
RUNTIME_TOOLCHAIN_TYPE = Label("//rules:runtime_toolchain_type")

def _executorch_codegen_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        codegen = ctx.attr.codegen[DefaultInfo].files_to_run,
    )]

executorch_codegen_toolchain = rule(
    doc = "A toolchain of type `//rules:codegen_toolchain_type`: the tool that selects, generates and checks.",
    implementation = _executorch_codegen_toolchain_impl,
    attrs = {
        "codegen": attr.label(
            doc = "The code generator's binary.",
            mandatory = True,
            executable = True,
            cfg = "exec",
        ),
    },
)

def _executorch_runtime_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        kernel_includes = ctx.attr.kernel_includes[CcInfo],
        program = ctx.attr.program[CcInfo],
        module = ctx.attr.module[CcInfo],
        default_runfiles = ctx.runfiles().merge_all([
            ctx.attr.program[DefaultInfo].default_runfiles,
            ctx.attr.module[DefaultInfo].default_runfiles,
        ]),
    )]

executorch_runtime_toolchain = rule(
    doc = """A toolchain of type `//rules:runtime_toolchain_type`: an ExecuTorch runtime for a target platform.

`//runtime:toolchain` is the official wheel's. Whoever builds ExecuTorch from source (Android, bare metal) declares
one of these with their own targets and registers it.""",
    implementation = _executorch_runtime_toolchain_impl,
    attrs = {
        "kernel_includes": attr.label(
            doc = "What a kernel includes: `executorch/runtime/kernel/kernel_includes.h` and what that needs. Headers only.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "module": attr.label(
            doc = "`executorch::extension::Module`, TensorPtr, data loaders, with the runtime itself.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "program": attr.label(
            doc = "`executorch::runtime::Program`, `Method`, the operator registry: the runtime without extensions.",
            mandatory = True,
            providers = [CcInfo],
        ),
    },
)

def _executorch_runtime_component_impl(ctx):
    toolchain = ctx.toolchains[RUNTIME_TOOLCHAIN_TYPE]
    return [
        DefaultInfo(runfiles = toolchain.default_runfiles),
        getattr(toolchain, ctx.attr.component),
    ]

executorch_runtime_component = rule(
    doc = "A part of the runtime of the toolchain that fits the target platform, as a C++ library.",
    implementation = _executorch_runtime_component_impl,
    attrs = {
        "component": attr.string(
            doc = "Which part.",
            values = ["kernel_includes", "module", "program"],
            mandatory = True,
        ),
    },
    provides = [CcInfo],
    toolchains = [RUNTIME_TOOLCHAIN_TYPE],
)
