"""The module extension of repositories.bzl."""

load(":repositories.bzl", "bench_repositories")

bench_tools = module_extension(
    doc = "The packages with which this repository's benchmarks compare.",
    implementation = lambda _: bench_repositories(),
)
