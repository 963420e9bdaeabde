"""The module extension of repositories.bzl."""

load(":repositories.bzl", "lint_repositories")

lint_tools = module_extension(
    doc = "The linters of this repository.",
    implementation = lambda _: lint_repositories(),
)
