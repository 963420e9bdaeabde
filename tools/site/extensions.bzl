"""The module extension of repositories.bzl."""

load(":repositories.bzl", "site_repositories")

site_tools = module_extension(
    doc = "Sphinx, which builds the documentation.",
    implementation = lambda _: site_repositories(),
)
