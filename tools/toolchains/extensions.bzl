"""The module extension of repositories.bzl."""

load(":repositories.bzl", "debian_toolchain_repositories")

debian_toolchains = module_extension(
    doc = "Compilers and Pythons of Debian's releases.",
    implementation = lambda _: debian_toolchain_repositories(),
)
