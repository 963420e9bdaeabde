"""The module extension of repositories.bzl."""

load(":repositories.bzl", "wine_repositories")

wine = module_extension(
    doc = "The emulator of Windows.",
    implementation = lambda _: wine_repositories(),
)
