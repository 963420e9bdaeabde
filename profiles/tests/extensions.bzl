"""The module extension of repositories.bzl."""

load(":repositories.bzl", "inspector_repositories")

inspector_tools = module_extension(
    doc = "What ExecuTorch's Inspector imports, for this repository's tests.",
    implementation = lambda _: inspector_repositories(),
)
