"""The module extension of repositories.bzl."""

load(":repositories.bzl", "remote_repositories")

remote = module_extension(
    doc = "The programs of a remote execution engine on this machine.",
    implementation = lambda _: remote_repositories(),
)
