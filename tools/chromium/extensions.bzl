"""The module extension of repositories.bzl."""

load(":repositories.bzl", "chromium_repositories")

chromium = module_extension(
    doc = "The browser for tests of pages.",
    implementation = lambda _: chromium_repositories(),
)
