"""The repositories of the linters: Python packages from a lock file, and buildifier from its npm package."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")
load("//third_party:npm_packages.bzl", "install_npm_packages")

NO_NPM_ERR = """could not install buildifier from npm: {found}.

Likely cause: npm is not installed, or reaches no registry.
Fix: install npm (Debian: apt-get install npm), or skip the lint."""

def _buildifier_repository_impl(rctx):
    install_npm_packages(rctx, "//tools/lint", NO_NPM_ERR)
    os = {"linux": "linux", "mac os x": "darwin"}.get(rctx.os.name, rctx.os.name)
    arch = {"aarch64": "arm64", "x86_64": "amd64"}.get(rctx.os.arch, rctx.os.arch)
    rctx.symlink("node_modules/@bazel/buildifier/buildifier-{}_{}".format(os, arch), "buildifier")
    rctx.file("BUILD.bazel", """exports_files(["buildifier"])""")

buildifier_repository = repository_rule(
    doc = "buildifier from its npm package, with the lock file in this folder.",
    implementation = _buildifier_repository_impl,
)

def lint_repositories():
    """Declares `lint_python` and `lint_buildifier`."""
    python_repository(
        name = "lint_python",
        packages = ["clang_format", "codespell", "mypy", "ruff"],
        precompile = ["mypy.main"],
        requirements = Label("//requirements:lint.txt"),
    )
    buildifier_repository(name = "lint_buildifier")
