"""Analysis tests of qnn_op_package."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@rules_python//python:defs.bzl", "py_library")
load("//rules:defs.bzl", "qnn_op_package")
load("//rules/private/actions:qnn_environment.bzl", "NO_QNN_SDK", "qnn_environment")
load("//rules/private/providers:qnn_op_package_info.bzl", "QnnOpPackageInfo")

# buildifier: disable=bzl-visibility
load("//rules/private/qnn:qnn_op_package_library.bzl", "check_processors")
load("//rules/private/repositories:qnn_repository.bzl", "build_id", "platforms", "skipped", "version_key")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "assert_error", "suite_of_new_tests", "values_of")

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

def _machine(environ, files):
    """A machine with these files and a clang++."""
    folders = {}
    for file in files:
        parts = file.split("/")
        for end in range(1, len(parts)):
            folders.setdefault("/".join(parts[:end]), {})[parts[end]] = None
    return struct(
        environ = environ,
        exists = lambda path: path in folders or path in files,
        names = lambda path: folders[path].keys(),
        which = lambda program: "/usr/bin/" + program,
    )

def _asm_srcs_test_impl(ctx):
    env = unittest.begin(ctx)
    messages = []
    processors = ["x86_64", "aarch64_android", "hexagon_v75"]
    check_processors("//ops:a", {"hexagon_v75": ["v75.S"], "x86_64": []}, processors, fail = messages.append)
    asserts.equals(env, [], messages)
    check_processors("//ops:a", {"hexagon_v79": ["v79.S"]}, processors, fail = messages.append)
    names = ["attribute asm_srcs", "hexagon_v79", "x86_64, aarch64_android, hexagon_v75"]
    assert_error(env, messages[0], "//ops:a", id = "unknown-processor", names = names)
    return unittest.end(env)

_asm_srcs_test = unittest.make(_asm_srcs_test_impl)

_QNN = "/qairt/include/QNN/QnnOpPackage.h"
_CLANG = "/ndk/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++"
_ENVIRON = {"ANDROID_NDK_ROOT": "/ndk", "HEXAGON_SDK_ROOT": "/q/hexagon-sdk-5.4.0", "QNN_SDK_ROOT": "/qairt"}

def _hexagon_files(root, compilers, archs):
    """Of a Hexagon SDK."""
    files = ["{}/rtos/qurt/compute{}/include/qurt/qurt.h".format(root, arch) for arch in archs]
    for compiler in compilers:
        tools = "{}/tools/HEXAGON_Tools/{}/Tools".format(root, compiler)
        files += [tools + "/bin/hexagon-clang++", tools + "/libnative/include/a.h"]
    return files

def _asserts_sdk(env, platform, root, compiler):
    """That a platform compiles with the headers of an SDK for a DSP and a compiler in it."""
    tools = "{}/tools/HEXAGON_Tools/{}/Tools".format(root, compiler)
    asserts.equals(env, [], platform.missing)
    if platform.role == "HTP.AARCH64_ANDROID":
        asserts.equals(env, tools + "/bin/hexagon-clang++", platform.compiler)
        asserts.true(env, "-I{}/incs".format(root) in platform.compile_flags, str(platform.compile_flags))
        asserts.false(env, "-ffast-math" in platform.compile_flags, str(platform.compile_flags))
    else:
        asserts.true(env, "-I{}/libnative/include".format(tools) in platform.compile_flags, str(platform.compile_flags))
        asserts.true(env, "-ffast-math" in platform.compile_flags, str(platform.compile_flags))

def _hexagon_sdks_test_impl(ctx):
    env = unittest.begin(ctx)

    # As ExecuTorch's document has them installed: HEXAGON_SDK_ROOT is the older one of two.
    old, new = "/q/hexagon-sdk-5.4.0", "/q/hexagon-sdk-6.0.0"
    both = (_hexagon_files(old, ["8.6.02", "8.7.03", "8.7.06"], ["v73", "v75"]) +
            _hexagon_files(new, ["8.8.02", "8.8.05"], ["v75", "v79"]))
    on = _machine(_ENVIRON, both + [_QNN, _CLANG])
    found = platforms(on)
    _asserts_sdk(env, found["hexagon_v73"], old, "8.6.02")
    _asserts_sdk(env, found["hexagon_v75"], old, "8.7.03")
    _asserts_sdk(env, found["hexagon_v79"], new, "8.8.02")
    _asserts_sdk(env, found["x86_64"], new, "8.8.02")
    _asserts_sdk(env, found["aarch64_android"], new, "8.8.02")
    asserts.equals(env, _CLANG, found["aarch64_android"].compiler)
    asserts.equals(env, "/usr/bin/clang++", found["x86_64"].compiler)
    asserts.equals(
        env,
        ["  hexagon_{}: there is no {}/rtos/qurt/compute{}/include".format(arch, old, arch) for arch in ["v68", "v69", "v81"]],
        skipped(on, found).split("\n")[1:],
    )

    # One SDK of another name, with a compiler that no list has.
    only = "/q/Hexagon_SDK/6.4.0.1"
    found = platforms(_machine(
        _ENVIRON | {"HEXAGON_SDK_ROOT": only + "/"},
        _hexagon_files(only, ["8.8.06", "8.10.01"], ["v75", "v79"]) + [_QNN, _CLANG],
    ))
    for name in ["hexagon_v75", "hexagon_v79", "x86_64", "aarch64_android"]:
        _asserts_sdk(env, found[name], only, "8.10.01")
    return unittest.end(env)

_hexagon_sdks_test = unittest.make(_hexagon_sdks_test_impl)

def _skipped_test_impl(ctx):
    env = unittest.begin(ctx)
    none = _machine({}, [])
    asserts.equals(env, "", skipped(none, platforms(none)), "a machine without SDKs hears nothing of them")
    asserts.true(env, [platform for platform in platforms(none).values() if not platform.missing] == [])
    for environ, files, name, reason in [
        (_ENVIRON, [_QNN, _CLANG], "hexagon_v75", "HEXAGON_SDK_ROOT names /q/hexagon-sdk-5.4.0, which does not exist"),
        ({"QNN_SDK_ROOT": "/qairt"}, [_QNN], "x86_64", "HEXAGON_SDK_ROOT is not set"),
        ({"QNN_SDK_ROOT": "/qairt"}, [_QNN], "cpu_aarch64_android", "ANDROID_NDK_ROOT is not set"),
        ({"QNN_SDK_ROOT": "/qairt"}, ["/qairt/lib"], "cpu_x86_64", "there is no /qairt/include/QNN"),
        (
            {"ANDROID_NDK_ROOT": "/ndk"},
            ["/ndk/a"],
            "aarch64_android",
            "QNN_SDK_ROOT is not set; HEXAGON_SDK_ROOT is not set; there is no " + _CLANG,
        ),
    ]:
        on = _machine(environ, files)
        lines = skipped(on, platforms(on)).split("\n")
        asserts.true(env, "  {}: {}".format(name, reason) in lines, str(lines))
    return unittest.end(env)

_skipped_test = unittest.make(_skipped_test_impl)

def qnn_op_package_test_suite(name):
    """Tests of qnn_op_package.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
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
    _asm_srcs_test(
        name = "qnn_asm_srcs_test",
        size = "small",
    )
    _hexagon_sdks_test(
        name = "qnn_hexagon_sdks_test",
        size = "small",
    )
    _skipped_test(
        name = "qnn_skipped_test",
        size = "small",
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
    suite_of_new_tests(name, before)
