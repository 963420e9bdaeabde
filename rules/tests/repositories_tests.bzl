"""Tests of what the repositories decide."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:bazel_version.bzl", "check_bazel_version")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "install_error", "misfit", "missing_deps")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:repositories.bzl", "with_source")

def _misfit_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, None, misfit("env", {"executorch": "1.5.1+cpu", "torch": "2.13.0+cpu"}, "1.5.1", "lock.txt"))
    asserts.equals(env, None, misfit("env", {"executorch": "1.5.1", "torch": "2.13.0"}, "1.5.1+cpu", "lock.txt"))
    asserts.equals(env, None, misfit("env", {"executorch": "1.5.1", "torch": "2.13.0"}, "", "lock.txt"))
    asserts.equals(env, None, misfit("env", {"yaml": "6"}, "1.5.1", "lock.txt"))
    runtime = misfit("env", {"executorch": "1.5.0", "torch": "2.13.0"}, "1.5.1", "lock.txt")
    asserts.true(env, runtime.startswith("rules_executorch: executorch 1.5.0 of @env does not fit the runtime 1.5.1 "), runtime)
    torch = misfit("env", {"executorch": "1.5.1", "torch": "2.12.1"}, "1.5.1", "lock.txt")
    asserts.true(env, torch.startswith("rules_executorch: executorch 1.5.1 of @env does not fit torch 2.12.1 of lock.txt."), torch)
    asserts.true(env, "use executorch 1.5.1 with torch 2.13" in torch, torch)
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
    message = install_error("env", "python", "//:lock.txt", "2.13.0+cpu", _OTHER_HASHES)
    for part in [
        "could not install //:lock.txt for @env: the lock has no hash of the file of torch==2.13.0+cpu that\npip finds here.\n",
        "Likely cause: the lock was made with another index",
        "add a line behind `torch==...` in the lock:\n    --hash=sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b \\",
    ]:
        asserts.true(env, part in message, message)
    message = install_error("env", "python", "//:lock.txt", "2.13.0+cpu", "No matching distribution found for torch==2.13.0+cpu")
    asserts.true(env, "pip finds no torch 2.13.0+cpu, the CPU build, for @env" in message, message)
    for stderr in ["No matching distribution found for absl-py==2.1.0", ""]:
        message = install_error("env", "python", "//:lock.txt", "2.13.0+cpu", stderr)
        asserts.true(env, message.startswith("rules_executorch: pip could not install //:lock.txt for @env:\n" + stderr), message)
    return unittest.end(env)

_install_error_test = unittest.make(_install_error_test_impl)

def _bazel_version_test_impl(ctx):
    env = unittest.begin(ctx)
    messages = []
    for version in ["", "7.4.0", "7.10.0", "8.0.0rc1", "7.7.0- (@non-git)"]:
        check_bazel_version(version, fail = messages.append)
    asserts.equals(env, [], messages)
    for version in ["6.5.0", "7.3.2", "7.3.2rc1"]:
        check_bazel_version(version, fail = messages.append)
    asserts.equals(env, 3, len(messages))
    asserts.true(env, messages[1].startswith("rules_executorch: Bazel 7.3.2 is older than 7.4.0, "), messages[1])
    return unittest.end(env)

_bazel_version_test = unittest.make(_bazel_version_test_impl)

def _missing_deps_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, None, missing_deps("env", "python", ["absl_py"], {Label("//pypi:absl_py"): "absl-py"}))
    message = missing_deps("env", "python", ["absl_py", "torch"], {Label("//pypi:absl_py"): "absl-py"})
    asserts.true(env, message.startswith("rules_executorch: @env: executorch.python(deps = ...) names no target for torch."), message)
    asserts.true(env, "Fix: give a py_library for each of absl_py, torch." in message, message)
    return unittest.end(env)

_missing_deps_test = unittest.make(_missing_deps_test_impl)

def _with_source_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, {"requirements": "lock"}, with_source("python", {}, "lock"))
    asserts.equals(env, {"allow_cuda": True, "requirements": "lock"}, with_source("python", {"allow_cuda": True}, "lock"))
    asserts.equals(env, {"site_packages": "/env"}, with_source("python", {"site_packages": "/env"}, "lock"))
    messages = []
    with_source("python", {"requirements": "mine", "site_packages": "/env"}, "lock", fail = messages.append)
    asserts.true(env, messages[0].startswith("rules_executorch: executorch.python names several sources: requirements, site_packages."), messages[0])
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
