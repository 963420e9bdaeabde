"""Analysis tests of python_headers, and of what stands in for Python.h."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("@rules_python//python:py_runtime.bzl", "py_runtime")
load("@rules_python//python:py_runtime_pair.bzl", "py_runtime_pair")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:host_python.bzl", "add_python_headers", "add_python_runtime")

# buildifier: disable=bzl-visibility
load("//rules/private/toolchains:python_headers.bzl", "python_headers_rule")
load(":analysis.bzl", "suite_of_new_tests")

_python_headers = python_headers_rule(Label("//rules/tests:py_cc_toolchain_type"))

def _py_cc_toolchain_impl(ctx):
    headers = ctx.attr.headers
    return [platform_common.ToolchainInfo(py_cc_toolchain = struct(
        headers = struct(providers_map = {"CcInfo": headers[CcInfo], "DefaultInfo": headers[DefaultInfo]}),
    ))]

_py_cc_toolchain = rule(
    doc = "As rules_python's py_cc_toolchain.",
    implementation = _py_cc_toolchain_impl,
    attrs = {"headers": attr.label(providers = [CcInfo])},
)

def _headers_test_impl(ctx):
    env = analysistest.begin(ctx)
    context = analysistest.target_under_test(env)[CcInfo].compilation_context
    asserts.equals(env, [ctx.attr.header], [file.basename for file in context.headers.to_list()])
    return analysistest.end(env)

def _make_headers_test(*toolchains):
    return analysistest.make(
        _headers_test_impl,
        attrs = {"header": attr.string()},
        config_settings = {"//command_line_option:extra_toolchains": [str(Label("//rules/tests:" + name)) for name in toolchains]},
    )

_with_cc_toolchain_test = _make_headers_test("py_toolchain", "py_cc_toolchain")
_without_cc_toolchain_test = _make_headers_test("py_toolchain")

def _repository(header_exists = False, rules_python = []):
    """A repository context of a machine, with some packages of rules_python; its dict `files` has what is written."""
    files = {}
    return struct(
        execute = lambda command: struct(stdout = "/usr/include/python3.11\n"),
        file = lambda path, content: files.update({path: content}),
        files = files,
        path = lambda path: struct(
            dirname = struct(get_child = lambda name: struct(exists = name in rules_python)),
            exists = header_exists,
        ),
        symlink = lambda target, path: files.update({path: target}),
    )

def _missing_test_impl(ctx):
    env = unittest.begin(ctx)
    python = struct(path = "/usr/bin/python3")
    missing = _repository(header_exists = False)
    add_python_headers(missing, python)
    stand_in = missing.files["headers/include/Python.h"].split("\n")[0]
    for part in ["#error \"rules_executorch: /usr/include/python3.11 has no Python.h", "Debian: apt-get install python3-dev"]:
        asserts.true(env, part in stand_in, stand_in)
    asserts.true(env, "//:incompatible" in missing.files["headers/BUILD.bazel"])
    found = _repository(header_exists = True)
    add_python_headers(found, python)
    asserts.equals(env, "/usr/include/python3.11", found.files["headers/include"])
    asserts.true(env, "//os:linux" in found.files["headers/BUILD.bazel"])
    return unittest.end(env)

_missing_test = unittest.make(_missing_test_impl)

def _runtime_test_impl(ctx):
    env = unittest.begin(ctx)
    python = struct(minor = 12, path = "/usr/bin/python3")
    for packages, says_version in [([], False), (["cc"], False), (["api", "cc"], True)]:
        repository = _repository(rules_python = packages)
        add_python_runtime(repository, python)
        build = repository.files["BUILD.bazel"]
        asserts.true(env, "interpreter_path = \"/usr/bin/python3\"," in build, build)
        asserts.true(env, "    name = \"tools_toolchain\",\n    toolchain = \":runtime_pair\"," in build, build)
        asserts.equals(env, says_version, "interpreter_version_info = {" in build and "\"minor\": \"12\"," in build, build)
        add_python_headers(repository, python)
        has_type = "//python/cc:toolchain_type\")" in repository.files["headers/python_headers.bzl"]
        asserts.equals(env, "cc" in packages, has_type)
    of_workspace = _repository()
    add_python_runtime(of_workspace, python, tools_have_workspaces = True)
    build = of_workspace.files["BUILD.bazel"]
    asserts.true(env, "    name = \"tools_toolchain\",\n    toolchain = \":workspaces\"," in build, build)
    return unittest.end(env)

_runtime_test = unittest.make(_runtime_test_impl)

def python_headers_test_suite(name):
    """Tests of python_headers.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    for library in ["machines", "toolchains"]:
        cc_library(
            name = "python_headers_of_" + library,
            hdrs = [library + ".h"],
            tags = ["manual"],
        )
    native.toolchain_type(name = "py_cc_toolchain_type")
    _py_cc_toolchain(
        name = "py_cc_toolchain_impl",
        headers = ":python_headers_of_toolchains",
        tags = ["manual"],
    )
    native.toolchain(
        name = "py_cc_toolchain",
        toolchain = ":py_cc_toolchain_impl",
        toolchain_type = ":py_cc_toolchain_type",
    )
    py_runtime(
        name = "py_runtime",
        interpreter_path = "/opt/python",
        python_version = "PY3",
        tags = ["manual"],
    )
    py_runtime_pair(
        name = "py_runtime_pair",
        py3_runtime = ":py_runtime",
        tags = ["manual"],
    )
    native.toolchain(
        name = "py_toolchain",
        toolchain = ":py_runtime_pair",
        toolchain_type = "//rules:python_toolchain_type",
    )
    for case, interpreter, test, header in [
        ("of_the_machine", "/opt/python", _with_cc_toolchain_test, "machines.h"),
        ("of_the_toolchain", "/usr/bin/python3", _with_cc_toolchain_test, "toolchains.h"),
        ("without_toolchain", "/usr/bin/python3", _without_cc_toolchain_test, "machines.h"),
    ]:
        _python_headers(
            name = "python_headers_" + case,
            interpreter = interpreter,
            machines = ":python_headers_of_machines",
            tags = ["manual"],
        )
        test(
            name = "python_headers_{}_test".format(case),
            size = "small",
            header = header,
            target_under_test = ":python_headers_" + case,
        )
    _missing_test(
        name = "python_headers_missing_test",
        size = "small",
    )
    _runtime_test(
        name = "python_runtime_test",
        size = "small",
    )
    suite_of_new_tests(name, before)
