"""What ExecuTorch's Inspector imports, as a repository, from a lock."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")

def inspector_repositories():
    """Declares `inspector_python`."""
    python_repository(
        name = "inspector_python",
        packages = ["pandas"],
        requirements = Label("//requirements:inspector.txt"),
    )
