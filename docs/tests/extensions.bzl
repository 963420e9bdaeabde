"""The module extension of repositories.bzl."""

load(":repositories.bzl", "source_tree_repository")

source_tree = module_extension(
    doc = "Repository `source_tree`, for tests of the documentation.",
    implementation = lambda _: source_tree_repository(name = "source_tree"),
)
