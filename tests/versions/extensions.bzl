"""The module extension of repositories.bzl."""

load(":repositories.bzl", "version_repositories")

executorch_versions = module_extension(
    doc = "Environments with other versions of ExecuTorch, for this repository's tests.",
    implementation = lambda _: version_repositories(),
)
