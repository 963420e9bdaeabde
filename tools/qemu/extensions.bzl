"""The module extension of repositories.bzl."""

load(":repositories.bzl", "qemu_repositories")

qemu = module_extension(
    doc = "Emulators of other processors.",
    implementation = lambda _: qemu_repositories(),
)
