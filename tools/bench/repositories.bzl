"""The peers of peers_bench as a repository, from a lock."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")

def bench_repositories():
    """Declares `bench_python`, which is empty where pip cannot install it."""
    python_repository(
        name = "bench_python",
        is_optional = True,
        requirements = Label("//requirements:bench.txt"),
    )
