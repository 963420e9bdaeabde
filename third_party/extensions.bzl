"""Module extensions, one for each third party, so that a workspace evaluates those that it uses."""

load("//third_party/cross:repositories.bzl", "cross_repositories")
load("//third_party/qemu:repositories.bzl", "qemu_repositories")
load(":chromium.bzl", "chromium_repository")
load(":googletest.bzl", "googletest_repository")
load(":wine.bzl", "wine_repository")

chromium = module_extension(
    doc = "The browser for tests of pages.",
    implementation = lambda _: chromium_repository(name = "chromium"),
)

cross = module_extension(
    doc = "Compilers for other platforms.",
    implementation = lambda _: cross_repositories(),
)

googletest = module_extension(
    doc = "The library of this repository's C++ tests.",
    implementation = lambda _: googletest_repository(name = "googletest"),
)

qemu = module_extension(
    doc = "Emulators of other processors.",
    implementation = lambda _: qemu_repositories(),
)

wine = module_extension(
    doc = "The emulator of Windows.",
    implementation = lambda _: wine_repository(name = "wine"),
)
