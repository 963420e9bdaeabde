"""The module extension of repositories.bzl."""

load(":repositories.bzl", "googletest_repositories")

googletest = module_extension(
    doc = "The library of this repository's C++ tests.",
    implementation = lambda _: googletest_repositories(),
)
