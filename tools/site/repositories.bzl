"""The repository of Sphinx, which builds the pages of the documentation."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")

def site_repositories():
    """Declares `docs_python`."""
    python_repository(
        name = "docs_python",
        packages = ["sphinx"],
        requirements = Label("//requirements:docs.txt"),
    )
