"""Rule executorch_runtime_toolchain."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":registry_size.bzl", "DEFAULT_MAX_KERNELS")

visibility(["//rules/..."])

def _executorch_runtime_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        etdump = ctx.attr.etdump[CcInfo] if ctx.attr.etdump else None,
        kernel_includes = ctx.attr.kernel_includes[CcInfo],
        licenses = depset(ctx.files.license_files),
        max_kernels = ctx.attr.max_kernels,
        program = ctx.attr.program[CcInfo],
        module = ctx.attr.module[CcInfo],
        threadpool = ctx.attr.threadpool[CcInfo] if ctx.attr.threadpool else CcInfo(),
        default_runfiles = ctx.runfiles().merge_all([
            ctx.attr.program[DefaultInfo].default_runfiles,
            ctx.attr.module[DefaultInfo].default_runfiles,
        ]),
    )]

executorch_runtime_toolchain = rule(
    doc = """A toolchain of type `//rules:runtime_toolchain_type`: an ExecuTorch runtime for a target platform.

`//runtime:toolchain` has the runtime of the official wheel. For an ExecuTorch that is built from source (Android, bare metal),
declare a toolchain with your own targets, and register the toolchain.""",
    implementation = _executorch_runtime_toolchain_impl,
    attrs = {
        "etdump": attr.label(
            doc = "`executorch::etdump::ETDumpGen`, with the runtime itself. Only binaries with profiling need this library.",
            providers = [CcInfo],
        ),
        "kernel_includes": attr.label(
            doc = "The headers for kernels: `executorch/runtime/kernel/kernel_includes.h` and the headers that it includes. Headers only.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "license_files": attr.label_list(
            doc = "The runtime's license files, for `executorch_bundle`.",
            allow_files = True,
        ),
        "max_kernels": attr.int(
            doc = "The capacity of the operator registry, in kernels: MAX_KERNEL_NUM of a runtime built from source. Default: 2000.",
            default = DEFAULT_MAX_KERNELS,
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
        "threadpool": attr.label(
            doc = "ExecuTorch's `extension_threadpool`, with the definition of `ET_USE_THREADPOOL`. Without this library, the runner has one thread.",
            providers = [CcInfo],
        ),
    },
)
