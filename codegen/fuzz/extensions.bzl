"""The module extension of repositories.bzl."""

load(":repositories.bzl", "fuzz_repositories")

fuzz_tools = module_extension(
    doc = "The fuzzer of this repository's tests.",
    implementation = lambda _: fuzz_repositories(),
)
