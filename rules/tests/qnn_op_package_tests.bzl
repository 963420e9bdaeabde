"""Analysis tests of qnn_op_package."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@rules_python//python:defs.bzl", "py_library")
load("//rules:defs.bzl", "qnn_op_package")
load("//rules/private/actions:qnn_environment.bzl", "NO_QNN_SDK", "qnn_environment")
load("//rules/private/providers:qnn_op_package_info.bzl", "QnnOpPackageInfo")
load("//rules/private/repositories:qnn_repository.bzl", "build_id", "version_key")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "values_of")

def _actions_test_impl(ctx):
    env = analysistest.begin(ctx)
    read = action_with_mnemonic(env, "EtQnnRead").argv
    check = action_with_mnemonic(env, "EtQnnCheck")
    for argv in [read, check.argv]:
        assert_ends(env, ["rules/tests/a.xml", "rules/tests/b.xml"], values_of(argv, "--xml"))
        asserts.equals(env, ["A=my_ops::a", "B=my_ops::b"], values_of(argv, "--torch_op"))
        asserts.equals(env, ["//rules/tests:qnn_package"], values_of(argv, "--label"))
    asserts.equals(env, ["A", "B"], values_of(read, "--op_src"))
    asserts.equals(env, ["/data/mine"], values_of(read, "--device_dir"))
    asserts.equals(env, ["rules.tests.operators"], values_of(check.argv, "--module"))
    for variable in ["QNN_SDK_ROOT", "HEXAGON_SDK_ROOT"]:
        asserts.equals(env, "", check.env.get(variable), variable + " is set, and empty")
    return analysistest.end(env)

_actions_test = analysistest.make(_actions_test_impl)

def _provider_test_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[QnnOpPackageInfo]
    asserts.equals(env, "qnn_package.interface.cpp", info.interface.basename)
    asserts.equals(env, ["both.cpp"], [file.basename for file in info.op_srcs.to_list()])
    groups = analysistest.target_under_test(env)[OutputGroupInfo]
    assert_ends(env, [".schema_check.txt"], [file.path for file in groups._validation.to_list()])
    return analysistest.end(env)

_provider_test = analysistest.make(_provider_test_impl)

def _skeleton_test_impl(ctx):
    env = analysistest.begin(ctx)
    script = [a.content for a in analysistest.target_actions(env) if a.mnemonic == "FileWrite"][0]
    for flag in ["'--folder=rules/tests'", "'--xml=rules/tests/a.xml'", "'--op_src=A=both.cpp'", "'--backend=HTP'"]:
        asserts.true(env, flag in script, flag + " in " + script)
    asserts.true(env, script.endswith(' "$@"\n'), "--overwrite is passed on: " + script)
    return analysistest.end(env)

_skeleton_test = analysistest.make(_skeleton_test_impl)

def _cpu_actions_test_impl(ctx):
    env = analysistest.begin(ctx)
    read = action_with_mnemonic(env, "EtQnnRead").argv
    for argv in [read, action_with_mnemonic(env, "EtQnnCheck").argv]:
        asserts.equals(env, ["CPU"], values_of(argv, "--backend"))
    asserts.equals(env, [], values_of(read, "--module"), "ExecuTorch is not told of a package for the CPU backend")
    return analysistest.end(env)

_cpu_actions_test = analysistest.make(_cpu_actions_test_impl)

def _cpu_skeleton_test_impl(ctx):
    env = analysistest.begin(ctx)
    script = [a.content for a in analysistest.target_actions(env) if a.mnemonic == "FileWrite"][0]
    asserts.true(env, "'--backend=CPU'" in script, script)
    return analysistest.end(env)

_cpu_skeleton_test = analysistest.make(_cpu_skeleton_test_impl)

def _targets_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, ["", ".aarch64_android", ".skeleton", ".x86_64"], sorted(ctx.attr.suffixes))
    return unittest.end(env)

_targets_test = unittest.make(_targets_test_impl, attrs = {"suffixes": attr.string_list()})

def _environment_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, NO_QNN_SDK, qnn_environment("", []))
    asserts.equals(env, NO_QNN_SDK | {"LD_LIBRARY_PATH": "a:b"}, qnn_environment("", ["a", "b"]))
    asserts.equals(
        env,
        NO_QNN_SDK | {"LD_LIBRARY_PATH": "/sdk/lib/x86_64-linux-clang:a", "QNN_SDK_ROOT": "/sdk"},
        qnn_environment("/sdk", ["a"]),
    )
    return unittest.end(env)

_environment_test = unittest.make(_environment_test_impl)

def _sdk_test_impl(ctx):
    env = unittest.begin(ctx)
    header = "#pragma once\n#define QNN_SDK_BUILD_ID \"v2.37.0.250724\"\n"
    asserts.equals(env, "v2.37.0.250724", build_id(header))
    asserts.equals(env, "", build_id("#pragma once\n"))
    versions = ["8.10.01", "8.8.02", "8.8.05"]
    asserts.equals(env, ["8.8.02", "8.8.05", "8.10.01"], sorted(versions, key = version_key))
    return unittest.end(env)

_sdk_test = unittest.make(_sdk_test_impl)

def qnn_op_package_test_suite(name):
    """Tests of qnn_op_package.

    Args:
      name: name of the test suite.
    """
    py_library(
        name = "qnn_operators",
        srcs = ["operators.py"],
        tags = ["manual"],
    )
    qnn_op_package(
        name = "qnn_package",
        config = [
            "a.xml",
            "b.xml",
        ],
        device_dir = "/data/mine",
        op_srcs = {
            "A": "both.cpp",
            "B": "both.cpp",
        },
        tags = ["manual"],
        torch_ops = {
            "A": "my_ops::a",
            "B": "my_ops::b",
        },
        deps = [":qnn_operators"],
    )
    qnn_op_package(
        name = "qnn_cpu_package",
        backend = "CPU",
        config = ["a.xml"],
        op_srcs = {"A": "both.cpp"},
        tags = ["manual"],
        torch_ops = {"A": "aten::relu"},
    )
    _cpu_actions_test(
        name = "qnn_cpu_package_actions_test",
        size = "small",
        target_under_test = ":qnn_cpu_package",
    )
    _cpu_skeleton_test(
        name = "qnn_cpu_package_skeleton_test",
        size = "small",
        target_under_test = ":qnn_cpu_package.skeleton",
    )
    _targets_test(
        name = "qnn_cpu_package_targets_test",
        size = "small",
        suffixes = [
            target.removeprefix("qnn_cpu_package")
            for target in native.existing_rules()
            if target.startswith("qnn_cpu_package") and not target.endswith("_test")
        ],
    )
    _environment_test(
        name = "qnn_environment_test",
        size = "small",
    )
    _actions_test(
        name = "qnn_package_actions_test",
        size = "small",
        target_under_test = ":qnn_package",
    )
    _provider_test(
        name = "qnn_package_provider_test",
        size = "small",
        target_under_test = ":qnn_package",
    )
    _skeleton_test(
        name = "qnn_package_skeleton_test",
        size = "small",
        target_under_test = ":qnn_package.skeleton",
    )
    _sdk_test(
        name = "qnn_sdk_test",
        size = "small",
    )
    native.test_suite(
        name = name,
        tests = [
            ":qnn_cpu_package_actions_test",
            ":qnn_cpu_package_skeleton_test",
            ":qnn_cpu_package_targets_test",
            ":qnn_environment_test",
            ":qnn_package_actions_test",
            ":qnn_package_provider_test",
            ":qnn_package_skeleton_test",
            ":qnn_sdk_test",
        ],
    )
