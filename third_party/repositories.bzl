"""The repositories of this folder, for WORKSPACE. extensions.bzl has the same for MODULE.bazel."""

load("//third_party/cross:repositories.bzl", "cross_repositories")
load("//third_party/qemu:repositories.bzl", "qemu_repositories")
load(":chromium.bzl", "chromium_repository")
load(":googletest.bzl", "googletest_repository")
load(":wine.bzl", "wine_repository")

def third_party_repositories():
    """Declares the repositories of all extensions."""
    chromium_repository(name = "chromium")
    cross_repositories()
    googletest_repository(name = "googletest")
    qemu_repositories()
    wine_repository(name = "wine")
