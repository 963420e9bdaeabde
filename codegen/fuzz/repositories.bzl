"""The repository of the fuzzer's Python packages, from a lock file."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")

def fuzz_repositories():
    """Declares `fuzz_python`."""
    python_repository(
        name = "fuzz_python",
        packages = ["atheris"],
        requirements = Label("//requirements:fuzz.txt"),
    )
