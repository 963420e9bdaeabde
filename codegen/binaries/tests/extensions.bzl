"""The module extension of repositories.bzl."""

load(":repositories.bzl", "objects_repositories")

objects_tools = module_extension(
    doc = "What makes and reads object files for macOS and Windows, for this repository's tests.",
    implementation = lambda _: objects_repositories(),
)
