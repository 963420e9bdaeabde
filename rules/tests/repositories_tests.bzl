"""Tests of what the repositories decide."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:bazel_version.bzl", "OLD_BAZEL_ERR", "check_bazel_version")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "CUDA_ERR", "DISK_ERR", "HASH_ERR", "INSTALL_ERR", "MISSING_DEPS_ERR", "install_error", "missing_deps", "with_absolute_folders")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:repositories.bzl", "SEVERAL_SOURCES_ERR", "with_source")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:runtime_repository.bzl", "executorch_lines")

# buildifier: disable=bzl-visibility
load(
    "//rules/private/repositories:version_check.bzl",
    "ENVIRONMENT_ERR",
    "MISFIT_ERR",
    "PYTHON_ERR",
    "UNKNOWN_WARNING",
    "UNTESTED_WARNING",
    "caution",
    "environment_misfit",
    "minor_version",
    "misfit",
    "nearest_version",
    "python_misfit",
    "python_range",
)

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:versions.bzl", "DEFAULT_EXECUTORCH", "VERSIONS")

def _check(executorch, torch, runtime):
    """The error and the warning of an environment."""
    installed = {"executorch": executorch, "torch": torch} if torch else {"executorch": executorch}
    return [check("env", installed, runtime, "lock.txt") for check in [misfit, caution]]

def _misfit_test_impl(ctx):
    env = unittest.begin(ctx)
    for executorch, torch, runtime in [
        ("1.5.1+cpu", "2.13.0+cpu", "1.5.1"),
        ("1.5.1", "2.13.0", "1.5.1+cpu"),
        ("1.5.1", "2.13.0", ""),
        ("1.5.1", None, "1.5.1"),
        ("1.4.1", "2.13.0+cpu", "1.5.1"),
        ("1.4.0", "2.13.0", "1.5.0"),
        ("1.4.1", "2.13.0", "1.4.1"),
    ]:
        asserts.equals(env, [None, None], _check(executorch, torch, runtime))
    for check in [misfit, caution]:
        asserts.equals(env, None, check("env", {"yaml": "6"}, "1.5.1", "lock.txt"))
    for executorch, runtime, expected in [
        ("1.5.0", "1.5.1", "1.5.0"),
        ("1.5.1+cpu", "1.6.0", "1.5.1"),
        ("1.6.0", "1.5.1", "1.6.0"),
        ("1.4.1", "1.6.0", "1.5"),
    ]:
        asserts.equals(env, MISFIT_ERR.format(
            executorch = executorch,
            expected = expected,
            name = "env",
            other = "the runtime",
            place = "@executorch_runtime",
            version = runtime,
        ), _check(executorch, "2.13.0", runtime)[0])
    for executorch, torch, expected in [
        ("1.5.1", "2.15.0", "2.13 or 2.14"),
        ("1.4.1", "2.14.1+cpu", "2.13"),
        ("1.6.0", "2.14.0", "2.15"),
    ]:
        asserts.equals(env, MISFIT_ERR.format(
            executorch = executorch,
            expected = expected,
            name = "env",
            other = "torch",
            place = "lock.txt",
            version = torch,
        ), _check(executorch, torch, "")[0])
    return unittest.end(env)

_misfit_test = unittest.make(_misfit_test_impl)

def _executorch_lines_test_impl(ctx):
    env = unittest.begin(ctx)
    pin = "executorch==1.6.0 \\\n    --hash=sha256:1 \\\n    --hash=sha256:2\n"
    others = ["absl-py==2.5.1 \\\n    --hash=sha256:3\n", "torch==2.15.0 \\\n    --hash=sha256:4\n"]
    asserts.equals(env, pin, executorch_lines(others[0] + pin + others[1]))
    asserts.equals(env, pin, executorch_lines(pin))
    asserts.equals(env, others[0], executorch_lines(others[0]))
    return unittest.end(env)

_executorch_lines_test = unittest.make(_executorch_lines_test_impl)

def _caution_test_impl(ctx):
    env = unittest.begin(ctx)
    default = "write executorch.python(requirements = \"@rules_executorch//requirements:export.txt\")"
    oldest = "write executorch.python(requirements = \"@rules_executorch//requirements:export_1.4.txt\")"
    newest = "lock them: `bazel run @rules_executorch//tools/lock -- --executorch=1.6`"
    for executorch, torch, runtime, found, nearest, nearest_lock in [
        ("1.7.0", "2.16.0", "1.7.0", "executorch 1.7.0 with torch 2.16.0", "executorch 1.6 with torch 2.15", newest),
        ("2.0.0a1", None, "", "executorch 2.0.0a1", "executorch 1.6 with torch 2.15", newest),
        ("1.3.1", "2.12.1", "1.5.1", "executorch 1.3.1 with torch 2.12.1 and the runtime of 1.5.1", "executorch 1.4 with torch 2.13", oldest),
        ("1.5.1", "2.12.1", "1.5.1", "executorch 1.5.1 with torch 2.12.1", "executorch 1.5 with torch 2.13", default),
        ("1.5.1", "2.16.0", "", "executorch 1.5.1 with torch 2.16.0", "executorch 1.5 with torch 2.14", default),
        ("1.5.1", "2.13.0", "1.7.0", "executorch 1.5.1 with torch 2.13.0 and the runtime of 1.7.0", "executorch 1.5 with torch 2.13", default),
    ]:
        asserts.equals(env, [None, UNKNOWN_WARNING.format(
            found = found,
            name = "env",
            nearest = nearest,
            nearest_lock = nearest_lock,
            place = "lock.txt",
        )], _check(executorch, torch, runtime))
    for executorch, torch in [("1.5.1", "2.14.0"), ("1.6.0", "2.15.0")]:
        asserts.equals(env, [None, UNTESTED_WARNING.format(
            found = "executorch {} with torch {}".format(executorch, torch),
            name = "env",
            nearest_lock = default,
            place = "lock.txt",
        )], _check(executorch, torch, executorch))
    return unittest.end(env)

_caution_test = unittest.make(_caution_test_impl)

def _nearest_version_test_impl(ctx):
    env = unittest.begin(ctx)
    for version, expected in {
        "": "1.4",
        "1.10": "1.6",
        "1.4": "1.4",
        "1.5rc1": "1.5",
        "dev": "1.4",
    }.items():
        asserts.equals(env, expected, nearest_version(version, ["1.4", "1.5", "1.6"]))
    asserts.equals(env, "2.14", nearest_version("2.13", ["2.12", "2.14"]), "of two, the newer one")
    return unittest.end(env)

_nearest_version_test = unittest.make(_nearest_version_test_impl)

def _python_misfit_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, (10, 15), python_range())
    for executorch, minor in [("1.4.1", 10), ("1.5.1", 14), ("1.6.0", 15), ("1.7.0", 15), (None, 15)]:
        python = struct(path = "/python3", minor = minor)
        asserts.equals(env, None, python_misfit("env", "//:lock.txt", executorch, python))
    for executorch, minor, oldest, newest in [("1.4.1", 15, 10, 14), ("1.6.0+cpu", 10, 11, 15)]:
        asserts.equals(env, PYTHON_ERR.format(
            executorch = executorch,
            minor = minor,
            name = "env",
            newest = newest,
            oldest = oldest,
            path = "/python3",
            requirements = "//:lock.txt",
        ), python_misfit("env", "//:lock.txt", executorch, struct(path = "/python3", minor = minor)))
    return unittest.end(env)

_python_misfit_test = unittest.make(_python_misfit_test_impl)

def _environment_misfit_test_impl(ctx):
    env = unittest.begin(ctx)
    head = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n"
    python = struct(path = "/python3", minor = 11)
    for tags in ["", "Tag: py3-none-any\n", "Tag: cp310-abi3-linux_x86_64\n", "Tag: cp311-cp311-linux_x86_64\n"]:
        wheels = {"absl_py": head, "torch": head + tags}
        asserts.equals(env, None, environment_misfit("env", "python", wheels, python, "/site-packages"), tags)
    for tag, built in {
        "cp312-cp312-manylinux_2_28_x86_64\nTag: cp312-cp312-linux_x86_64": 12,
        "cp313-cp313t-linux_x86_64": 13,
        "cp39-cp39-linux_x86_64\r": 9,
    }.items():
        wheels = {"absl_py": head + "Tag: py3-none-any\n", "torch": "{}Tag: {}\n".format(head, tag)}
        asserts.equals(env, ENVIRONMENT_ERR.format(
            built = built,
            minor = 11,
            name = "env",
            package = "torch",
            path = "/python3",
            place = "/site-packages",
            tag = "python",
        ), environment_misfit("env", "python", wheels, python, "/site-packages"))
    return unittest.end(env)

_environment_misfit_test = unittest.make(_environment_misfit_test_impl)

def _versions_test_impl(ctx):
    """What the checks and tools/lock assume of the table."""
    env = unittest.begin(ctx)
    asserts.true(env, DEFAULT_EXECUTORCH in VERSIONS)
    for minor, row in VERSIONS.items():
        asserts.equals(env, ["differs", "lock", "pins", "pythons", "runtime", "tested", "torch"], sorted(row), minor)
        asserts.equals(env, minor, minor_version(row["pins"]["executorch"]))
        asserts.true(env, minor_version(row["pins"]["torch"]) in row["torch"], minor)
        asserts.true(env, row["runtime"] in VERSIONS, minor)
        asserts.equals(env, bool(row["tested"]), bool(row["lock"]), minor)
        for torch in row["tested"]:
            asserts.true(env, torch in row["torch"], minor)
    return unittest.end(env)

_versions_test = unittest.make(_versions_test_impl)

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

    # A full disk, as pip 23 and uv 0.9 say it.
    traceback = "\n".join(["  File \"pip/_internal/cli/base_command.py\", line {}".format(line) for line in range(300)])
    for said in [
        "OSError: [Errno 28] No space left on device",
        "error: Failed to extract archive: io error: No space left on device (os error 28)",
    ]:
        asserts.equals(
            env,
            DISK_ERR.format(name = "env", requirements = "//:lock.txt", stderr = said),
            install_error("env", "python", "//:lock.txt", "2.13.0+cpu", traceback + "\n" + said + "\n"),
        )
    message = install_error("env", "python", "//:lock.txt", None, traceback)
    asserts.true(env, "\n... 260 lines before\n" in message and message.count("\n") < 50, message)
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

def _absolute_folders_test_impl(ctx):
    env = unittest.begin(ctx)
    lock = "# Made\n--find-links={}\nlayers==1.0 \\\n    --hash=sha256:00\n"
    for place, expected in {
        "/opt/wheels": "/opt/wheels",
        "file:///opt/wheels": "file:///opt/wheels",
        "wheels": "/workspace/app/wheels",
    }.items():
        asserts.equals(env, lock.format(expected), with_absolute_folders(lock.format(place), "/workspace/app"))
    return unittest.end(env)

_absolute_folders_test = unittest.make(_absolute_folders_test_impl)

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
    unittest.suite(
        name,
        _absolute_folders_test,
        _bazel_version_test,
        _caution_test,
        _environment_misfit_test,
        _executorch_lines_test,
        _install_error_test,
        _misfit_test,
        _missing_deps_test,
        _nearest_version_test,
        _python_misfit_test,
        _versions_test,
        _with_source_test,
    )
