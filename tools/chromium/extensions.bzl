"""The module extension of repositories.bzl."""

load(":repositories.bzl", "chromium_repositories")

chromium = module_extension(
    doc = "The browser in which pages are tested.",
    implementation = lambda _: chromium_repositories(),
)
