"""Rule executorch_codegen_toolchain."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

visibility(["//rules/..."])

# One worker serves every subcommand, and keeps what it has read for all of them.
_WORKER = {
    "requires-worker-protocol": "json",
    "supports-multiplex-sandboxing": "1",
    "supports-multiplex-workers": "1",
    "supports-workers": "1",
    "worker-key-mnemonic": "EtCodegen",
}

# Bazel 7 starts a multiplex worker by the mapped path of its tool, where there is none: it is the one or the other.
_PATH_MAPPING = {"supports-path-mapping": "1"}

def _executorch_codegen_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        codegen = ctx.attr.codegen[DefaultInfo].files_to_run,
        codegen_files = ctx.attr.codegen[DefaultInfo].files,
        execution_requirements = _PATH_MAPPING if ctx.attr._path_mapping[BuildSettingInfo].value else _WORKER,
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
        "_path_mapping": attr.label(
            default = "//rules:path_mapping",
            providers = [BuildSettingInfo],
        ),
    },
)
