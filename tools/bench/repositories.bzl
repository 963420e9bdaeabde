"""The repositories with which benchmarks compare: packages of Python from a lock file, and Highway."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")
load("//tools/debian:packages.bzl", "extract_debian_packages")

NO_HIGHWAY_ERR = """Highway could not be had: {found}.

Likely cause: this is no Debian or Ubuntu machine, or it reaches no package mirror.
Fix: none; //tools/bench:highway_bench is the only program that needs Highway."""

def _highway_repository_impl(rctx):
    extract_debian_packages(
        rctx,
        ["libhwy-dev"],
        NO_HIGHWAY_ERR,
        # The Debian after the one with GCC 12, since its Highway is three years newer.
        suite = "trixie",
        sha256 = {"libhwy-dev": "a39afec3be24628d4796e3fe6765a2a5cd9c1457bde356062580f99f58f5a14e"},
    )
    rctx.file("BUILD.bazel", """\
package(default_visibility = ["//visibility:public"])

exports_files(["usr/include/hwy/highway.h"])

filegroup(
    name = "headers",
    srcs = glob(["usr/include/hwy/**/*.h"]),
)
""")

highway_repository = repository_rule(
    doc = "The `:headers` of Highway, from Debian's package for x86-64.",
    implementation = _highway_repository_impl,
)

def bench_repositories():
    """Declares `bench_python`, which is empty if pip cannot install the packages, and `highway`."""
    python_repository(
        name = "bench_python",
        is_optional = True,
        requirements = Label("//requirements:bench.txt"),
    )
    highway_repository(name = "highway")
