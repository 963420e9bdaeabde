"""The module extension of repositories.bzl."""

load(":repositories.bzl", "cross_repositories")

cross = module_extension(
    doc = "Compilers for other platforms.",
    implementation = lambda _: cross_repositories(),
)
