"""Tests of what the repositories decide."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:bazel_version.bzl", "OLD_BAZEL_ERR", "check_bazel_version")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "CUDA_ERR", "HASH_ERR", "INSTALL_ERR", "MISFIT_ERR", "MISSING_DEPS_ERR", "install_error", "misfit", "missing_deps")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:repositories.bzl", "SEVERAL_SOURCES_ERR", "with_source")

def _misfit_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, None, misfit("env", {"executorch": "1.5.1+cpu", "torch": "2.13.0+cpu"}, "1.5.1", "lock.txt"))
    asserts.equals(env, None, misfit("env", {"executorch": "1.5.1", "torch": "2.13.0"}, "1.5.1+cpu", "lock.txt"))
    asserts.equals(env, None, misfit("env", {"executorch": "1.5.1", "torch": "2.13.0"}, "", "lock.txt"))
    asserts.equals(env, None, misfit("env", {"yaml": "6"}, "1.5.1", "lock.txt"))
    runtime = misfit("env", {"executorch": "1.5.0", "torch": "2.13.0"}, "1.5.1", "lock.txt")
    asserts.equals(env, MISFIT_ERR.format(
        executorch = "1.5.0",
        expected = "1.5.0",
        name = "env",
        other = "the runtime",
        place = "@executorch_runtime",
        version = "1.5.1",
    ), runtime)
    torch = misfit("env", {"executorch": "1.5.1", "torch": "2.12.1"}, "1.5.1", "lock.txt")
    asserts.equals(env, MISFIT_ERR.format(
        executorch = "1.5.1",
        expected = "2.13",
        name = "env",
        other = "torch",
        place = "lock.txt",
        version = "2.12.1",
    ), torch)
    return unittest.end(env)

_misfit_test = unittest.make(_misfit_test_impl)

# What pip 23 says of a lock without the hash of the CPU build.
_OTHER_HASHES = """\
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, please update the hashes. Otherwise, examine the package contents carefully; someone may have tampered with them.
    torch==2.13.0+cpu from file:///wheels/torch-2.13.0%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl (from -r r.txt (line 1)):
        Expected sha256 0000000000000000000000000000000000000000000000000000000000000001
        Expected     or 0000000000000000000000000000000000000000000000000000000000000002
             Got        6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b

"""

def _install_error_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, HASH_ERR.format(
        hash = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b",
        name = "env",
        package = "torch",
        pin = "torch==2.13.0+cpu",
        requirements = "//:lock.txt",
        stderr = _OTHER_HASHES,
    ), install_error("env", "python", "//:lock.txt", "2.13.0+cpu", _OTHER_HASHES))
    for stderr, error in {
        "": INSTALL_ERR,
        "No matching distribution found for absl-py==2.1.0": INSTALL_ERR,
        "No matching distribution found for torch==2.13.0+cpu": CUDA_ERR,
    }.items():
        message = error.format(name = "env", requirements = "//:lock.txt", stderr = stderr, tag = "python", version = "2.13.0+cpu")
        asserts.equals(env, message, install_error("env", "python", "//:lock.txt", "2.13.0+cpu", stderr))
    return unittest.end(env)

_install_error_test = unittest.make(_install_error_test_impl)

def _bazel_version_test_impl(ctx):
    env = unittest.begin(ctx)
    messages = []
    for version in ["", "7.4.0", "7.10.0", "8.0.0rc1", "7.7.0- (@non-git)"]:
        check_bazel_version(version, fail = messages.append)
    asserts.equals(env, [], messages)
    old = ["6.5.0", "7.3.2", "7.3.2rc1"]
    for version in old:
        check_bazel_version(version, fail = messages.append)
    asserts.equals(env, [OLD_BAZEL_ERR.format(oldest = "7.4.0", version = version) for version in old], messages)
    return unittest.end(env)

_bazel_version_test = unittest.make(_bazel_version_test_impl)

def _missing_deps_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, None, missing_deps("env", "python", ["absl_py"], {Label("//pypi:absl_py"): "absl-py"}))
    message = missing_deps("env", "python", ["absl_py", "torch"], {Label("//pypi:absl_py"): "absl-py"})
    asserts.equals(env, MISSING_DEPS_ERR.format(missing = "torch", name = "env", packages = "absl_py, torch", tag = "python"), message)
    return unittest.end(env)

_missing_deps_test = unittest.make(_missing_deps_test_impl)

def _with_source_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, {"requirements": "lock"}, with_source("python", {}, "lock"))
    asserts.equals(env, {"allow_cuda": True, "requirements": "lock"}, with_source("python", {"allow_cuda": True}, "lock"))
    asserts.equals(env, {"site_packages": "/env"}, with_source("python", {"site_packages": "/env"}, "lock"))
    messages = []
    with_source("python", {"requirements": "mine", "site_packages": "/env"}, "lock", fail = messages.append)
    asserts.equals(env, [
        SEVERAL_SOURCES_ERR.format(given = "requirements, site_packages", possible = "requirements, site_packages, wheel, deps", tag = "python"),
    ], messages)
    return unittest.end(env)

_with_source_test = unittest.make(_with_source_test_impl)

def _codegen_packages_test_impl(ctx):
    env = analysistest.begin(ctx)
    names = [file.basename for file in analysistest.target_under_test(env)[DefaultInfo].files.to_list()]
    asserts.true(env, "__init__.py" in names)
    asserts.false(env, "site-packages" in names, "a directory among an action's inputs, of which Bazel warns")
    return analysistest.end(env)

_codegen_packages_test = analysistest.make(_codegen_packages_test_impl)

def repositories_test_suite(name):
    """Tests of the repositories' decisions.

    Args:
      name: name of the test suite.
    """
    _codegen_packages_test(
        name = "codegen_packages_test",
        size = "small",
        target_under_test = "@executorch_codegen_python//:packages",
    )
    unittest.suite(name, _bazel_version_test, _install_error_test, _misfit_test, _missing_deps_test, _with_source_test)
