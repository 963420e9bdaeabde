"""The module extension of repositories.bzl."""

load(":repositories.bzl", "lint_repositories")

lint_tools = module_extension(
    doc = "The linters of this repository, and what builds its documentation.",
    implementation = lambda _: lint_repositories(),
)
