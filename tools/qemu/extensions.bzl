"""The module extension of repositories.bzl."""

load(":repositories.bzl", "qemu_repositories")

qemu = module_extension(
    doc = "What runs programs as on another processor.",
    implementation = lambda _: qemu_repositories(),
)
