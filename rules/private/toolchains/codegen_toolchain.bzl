"""Rule executorch_codegen_toolchain."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

visibility(["//rules/..."])

# One worker runs all subcommands, and shares its cache of read files among them.
_WORKER = {
    "requires-worker-protocol": "json",
    "supports-multiplex-sandboxing": "1",
    "supports-multiplex-workers": "1",
    "supports-workers": "1",
    "worker-key-mnemonic": "EtCodegen",
}

# Path mapping excludes the worker: Bazel 7 starts a multiplex worker by the mapped path of its tool, which does not exist.
_PATH_MAPPING = {"supports-path-mapping": "1"}

def _executorch_codegen_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        codegen = ctx.attr.codegen[DefaultInfo].files_to_run,
        codegen_files = ctx.attr.codegen[DefaultInfo].files,
        execution_requirements = _PATH_MAPPING if ctx.attr._path_mapping[BuildSettingInfo].value else _WORKER,
    )]

executorch_codegen_toolchain = rule(
    doc = "A toolchain of type `//rules:codegen_toolchain_type`: the tool that selects operators, generates code and checks binaries.",
    implementation = _executorch_codegen_toolchain_impl,
    attrs = {
        "codegen": attr.label(
            doc = "The code generator's binary.",
            mandatory = True,
            executable = True,
            cfg = "exec",
        ),
        "_path_mapping": attr.label(
            default = "//rules:path_mapping",
            providers = [BuildSettingInfo],
        ),
    },
)
