"""The module extension of repositories.bzl."""

load(":repositories.bzl", "lint_repositories")

lint_tools = module_extension(
    doc = "Repositories for this repository's own development: linters, and the machine's Python as a toolchain.",
    implementation = lambda _: lint_repositories(host_python = True),
)
