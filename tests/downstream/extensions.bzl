"""The module extension of repositories.bzl."""

load(":repositories.bzl", "bazel_repository")

nested_bazel = module_extension(
    doc = "Repository `executorch_bazel`, for tests that run Bazel.",
    implementation = lambda _: bazel_repository(name = "executorch_bazel"),
)
