"""Rule workspace_python."""

_WORKSPACES_TYPE = "@rules_python//python:toolchain_type"

def _workspace_python_impl(ctx):
    return [ctx.toolchains[_WORKSPACES_TYPE]]

workspace_python = rule(
    doc = "The workspace's own Python as the tools' Python, for packages that come from the workspace's hub.",
    implementation = _workspace_python_impl,
    provides = [platform_common.ToolchainInfo],
    toolchains = [_WORKSPACES_TYPE],
)
