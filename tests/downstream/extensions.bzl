"""The module extension of repositories.bzl."""

load(":repositories.bzl", "nested_repositories")

nested_bazel = module_extension(
    doc = "Repositories `executorch_bazel` and `downstream_wheels`, for tests that run Bazel.",
    implementation = lambda _: nested_repositories(),
)
