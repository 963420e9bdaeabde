"""The repository of the peers of peers_bench, from a lock file."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")

def bench_repositories():
    """Declares `bench_python`, which is empty if pip cannot install the packages."""
    python_repository(
        name = "bench_python",
        is_optional = True,
        requirements = Label("//requirements:bench.txt"),
    )
