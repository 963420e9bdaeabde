"""The module extension of repositories.bzl."""

load(":repositories.bzl", "bench_repositories")

bench_tools = module_extension(
    doc = "What the benchmarks of this repository compare with.",
    implementation = lambda _: bench_repositories(),
)
