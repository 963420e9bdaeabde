"""Analysis tests of torch_op_library and torch_ops_check."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("@rules_python//python:defs.bzl", "py_library")
load("//rules:defs.bzl", "torch_op_library", "torch_op_test", "torch_op_wheel", "torch_ops_check")
load("//rules:providers.bzl", "TorchOpInfo")
load("//rules:torch_ops_check.bzl", "torch_ops_check_aspect")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:cuda_repository.bzl", "find_toolkit")

# buildifier: disable=bzl-visibility
load("//rules/private/toolchains:cuda_toolkit.bzl", "toolkit_for")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "assert_error", "failure_test", "suite_of_new_tests", "values_of")

def _names(files):
    return [file.basename for file in files.to_list()]

def _shared_libraries(info):
    return [
        library.dynamic_library.basename
        for linker_input in info.linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
    ]

def _stable_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    compile = action_with_mnemonic(env, "CppCompile").argv
    for flag in ["-DTORCH_TARGET_VERSION=0x020a000000000000ULL", "-DTORCH_EXTENSION_NAME=torch_stable", "-std=c++20", "-DMINE", "-O1"]:
        asserts.true(env, flag in compile, "{} in {}".format(flag, compile))
    describe = action_with_mnemonic(env, "EtTorchLibrary").argv
    assert_ends(env, ["rules/tests/libtorch_stable.so"], values_of(describe, "--library"))
    asserts.equals(env, ["my_ops"], values_of(describe, "--namespace"))
    assert_ends(env, ["torch_stable.loaded.torch.json"], values_of(describe, "--loaded"))
    asserts.equals(env, [], values_of(describe, "--source"), "what was loaded knows the lines")
    torch = [path.rpartition("/")[2] for path in values_of(describe, "--torch_library")]
    asserts.true(env, "libtorch_cpu.so" in torch and "libc10.so" in torch, "{}".format(torch))

    linked = _names(action_with_mnemonic(env, "CppLink").inputs)
    asserts.true(env, "libtorch_aten.so" in linked and "libtorch_cpu.so" in linked, "{}".format(linked))
    asserts.false(env, "libc10.so" in linked, "the stable ABI is in libtorch_cpu, whatever the dependencies link")

    info = target[TorchOpInfo]
    asserts.equals(env, ["libtorch_aten.so", "libtorch_stable.so"], _names(info.libraries), "what is needed comes first")
    asserts.equals(env, ["torch_aten.torch_operators.json", "torch_stable.torch_operators.json"], _names(info.operators))
    check = action_with_mnemonic(env, "EtTorchCheck").argv
    assert_ends(env, ["torch_aten.torch.json", "torch_stable.torch.json"], values_of(check, "--manifest"))
    validation = target[OutputGroupInfo]._validation.to_list()
    for mnemonic in ["EtTorchLoad", "EtTorchCheck"]:
        asserts.true(env, action_with_mnemonic(env, mnemonic).outputs.to_list()[0] in validation, mnemonic + " always runs")
    return analysistest.end(env)

_stable_test = analysistest.make(_stable_test_impl)

def _aten_test_impl(ctx):
    env = analysistest.begin(ctx)
    compile = action_with_mnemonic(env, "CppCompile").argv
    asserts.equals(env, [], [flag for flag in compile if "TORCH_TARGET_VERSION" in flag])
    describe = action_with_mnemonic(env, "EtTorchLibrary").argv
    asserts.equals(env, [], values_of(describe, "--torch_library"), "all of PyTorch may be used")
    libraries = _shared_libraries(analysistest.target_under_test(env)[CcInfo])
    asserts.equals(env, "libtorch_aten.so", libraries[0])
    asserts.true(env, "libtorch_cpu.so" in libraries, "{}".format(libraries))
    asserts.false(env, "libtorch_python.so" in libraries, "{}".format(libraries))
    linked = _names(action_with_mnemonic(env, "CppLink").inputs)
    asserts.true(env, "libtorch_python.so" in linked, "an extension module finds it: {}".format(linked))
    return analysistest.end(env)

_aten_test = analysistest.make(_aten_test_impl)

def _manifests_test_impl(ctx):
    env = analysistest.begin(ctx)
    check = action_with_mnemonic(env, "EtTorchCheck")
    asserts.equals(env, [str(analysistest.target_under_test(env).label).removeprefix("@@")], values_of(check.argv, "--label"))
    assert_ends(env, ["torch_aten.torch.json"], values_of(check.argv, "--manifest"))
    assert_ends(env, ["torch_aten.torch_operators.json"], values_of(check.argv, "--operators"))
    validation = analysistest.target_under_test(env)[OutputGroupInfo]._validation.to_list()
    asserts.true(env, check.outputs.to_list()[0] in validation, "every build of the target runs the check")
    asserts.true(env, "torch_aten.torch_operators.json" in [file.basename for file in validation], "and loads the libraries")
    return analysistest.end(env)

_manifests_test = analysistest.make(
    _manifests_test_impl,
    doc = "A check sees an operator library behind Python ones, once.",
)

def _aspect_test_impl(ctx):
    env = analysistest.begin(ctx)
    reports = [
        file.basename
        for file in analysistest.target_under_test(env)[OutputGroupInfo]._validation.to_list()
        if file.basename.endswith(".loaded_namespaces.txt")
    ]
    asserts.equals(env, ctx.attr.reports, reports)
    return analysistest.end(env)

_aspect_test = analysistest.make(
    _aspect_test_impl,
    doc = "The aspect checks a Python target that loads two libraries, and no other; not what checks itself.",
    attrs = {"reports": attr.string_list()},
    extra_target_under_test_aspects = [torch_ops_check_aspect],
)

def _cuda_test_impl(ctx):
    env = unittest.begin(ctx)
    label, sources = Label("//ops:lib"), [struct(basename = "a.cu"), struct(basename = "b.cu")]
    toolkit = struct(home = "/usr/local/cuda")
    asserts.equals(env, toolkit, toolkit_for(label, sources, toolkit))
    asserts.equals(env, None, toolkit_for(label, [], struct(home = "")))
    messages = []
    asserts.equals(env, None, toolkit_for(label, sources, struct(home = ""), fail = messages.append))
    assert_error(env, messages[0], str(label), id = "no-cuda-toolkit", names = ["a.cu, b.cu", "this machine"])
    return unittest.end(env)

_cuda_test = unittest.make(_cuda_test_impl)

def _machine(folders, environ = {}):
    """A repository context of a machine with these folders, whose nvcc on the PATH is /usr/local/bin/nvcc."""

    def path(name):
        folder, _, file = name.rpartition("/")
        return struct(
            exists = name in folders or file in folders.get(folder, []),
            readdir = lambda: [struct(basename = entry) for entry in folders[name]],
        )

    nvcc = struct(realpath = struct(dirname = struct(dirname = "/usr/local")))
    return struct(os = struct(environ = environ), path = path, which = lambda name: nvcc)

def _cuda_machines_test_impl(ctx):
    env = unittest.begin(ctx)
    script = {"/usr/local/bin": ["nvcc"], "/usr/local/lib": ["libother.so"]}
    whole = {"/usr/local/cuda/bin": ["nvcc"], "/usr/local/cuda/lib64": ["libcudart.so", "libcudart.so.13"]}
    asserts.equals(env, (None, None), find_toolkit(_machine(script)))
    home, runtime = find_toolkit(_machine(script | whole))
    asserts.equals(env, "/usr/local/cuda", home, "not that of the script")
    asserts.true(env, "libcudart.so" in runtime)
    home, _ = find_toolkit(_machine(script | whole | {"/opt/bin": ["nvcc"], "/opt/lib": ["libcudart.so.12"]}, {"CUDA_HOME": "/opt"}))
    asserts.equals(env, "/opt", home)
    return unittest.end(env)

_cuda_machines_test = unittest.make(_cuda_machines_test_impl)

# Attributes of a library that does not fit the PyTorch of the build, and what the message says.
_MISFITS = {
    "torch_bad_version": ({"api": "stable", "torch_target_version": "2.10.1"}, ["\"2.10.1\""]),
    "torch_newer": ({"api": "stable", "torch_target_version": "9.0"}, ["9.0", "has PyTorch 2."]),
    "torch_not_stable": ({"torch_target_version": "2.10"}, ["api = \"stable\""]),
    "torch_older": ({"api": "stable", "torch_target_version": "2.8"}, ["2.8", "stable ABI of 2.9"]),
}

def _module_test_impl(ctx):
    env = analysistest.begin(ctx)
    files = analysistest.target_under_test(env)[DefaultInfo].files.to_list()
    asserts.equals(env, ["_1_torch_of_names.py"], [file.basename for file in files], "a name that Python can import")
    return analysistest.end(env)

_module_test = analysistest.make(_module_test_impl)

def _wheel_test_impl(ctx):
    env = analysistest.begin(ctx)
    wheel = action_with_mnemonic(env, "EtWheel").argv
    asserts.equals(env, ["torch>=2.10"], values_of(wheel, "--requires"), "what loads the library")
    return analysistest.end(env)

_wheel_test = analysistest.make(_wheel_test_impl)

def torch_op_library_test_suite(name):
    """Tests of torch_op_library and torch_ops_check.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    torch_op_library(
        name = "torch_aten",
        srcs = ["op_a.cpp"],
        tags = ["manual"],
    )
    torch_op_library(
        name = "torch_stable",
        srcs = ["op_a.cpp"],
        hdrs = ["op_a.h"],
        api = "stable",
        copts = ["-O1"],
        local_defines = ["MINE"],
        namespace = "my_ops",
        tags = ["manual"],
        torch_target_version = "2.10",
        deps = [":torch_aten"],
    )
    torch_op_library(
        name = "1 torch+of-names",
        srcs = ["op_a.cpp"],
        tags = ["manual"],
    )
    for library in ["torch_aten", "torch_stable"]:
        torch_op_wheel(
            name = library + "_wheel",
            library = ":{}_py".format(library),
            platform = "linux_x86_64",
            tags = ["manual"],
            version = "1.0",
        )
    _wheel_test(
        name = "torch_wheel_test",
        size = "small",
        target_under_test = ":torch_stable_wheel",
    )
    failure_test(
        name = "torch_wheel_of_aten_test",
        size = "small",
        id = "wheel-of-aten",
        names = ["library", "torch_aten", "api = \"aten\""],
        target_under_test = ":torch_aten_wheel",
    )
    _module_test(
        name = "torch_module_test",
        size = "small",
        target_under_test = ":1 torch+of-names_py",
    )
    _aten_test(
        name = "torch_aten_test",
        size = "small",
        target_under_test = ":torch_aten",
    )
    _stable_test(
        name = "torch_stable_test",
        size = "small",
        target_under_test = ":torch_stable",
    )
    py_library(
        name = "torch_python",
        data = [":torch_aten"],
        tags = ["manual"],
        deps = [":torch_aten_py"],
    )
    torch_ops_check(
        name = "torch_check",
        tags = ["manual"],
        deps = [":torch_python"],
    )
    torch_op_test(
        name = "torch_tested",
        op = "my_ops::mul3",
        samples = "samples.py",
        tags = ["manual"],
        deps = [":torch_python"],
    )
    py_library(
        name = "torch_python_of_two",
        tags = ["manual"],
        deps = [
            ":torch_python",
            ":torch_stable_py",
        ],
    )
    _aspect_test(
        name = "torch_aspect_test",
        size = "small",
        reports = ["torch_python_of_two.loaded_namespaces.txt"],
        target_under_test = ":torch_python_of_two",
    )
    py_library(
        name = "torch_python_unchecked",
        tags = [
            "manual",
            "no-torch-ops-check",
        ],
        deps = [":torch_python_of_two"],
    )
    _aspect_test(
        name = "torch_aspect_unchecked_test",
        size = "small",
        target_under_test = ":torch_python_unchecked",
    )
    _aspect_test(
        name = "torch_aspect_of_one_test",
        size = "small",
        target_under_test = ":torch_python",
    )
    _aspect_test(
        name = "torch_aspect_of_checked_test",
        size = "small",
        target_under_test = ":torch_stable",
    )
    for checked in ["torch_check", "torch_tested"]:
        _manifests_test(
            name = checked + "_test",
            size = "small",
            target_under_test = checked,
        )
    for misfit, (attributes, names) in _MISFITS.items():
        torch_op_library(
            name = misfit,
            srcs = ["op_a.cpp"],
            tags = ["manual"],
            **attributes
        )
        failure_test(
            name = misfit + "_test",
            size = "small",
            id = "torch-version",
            names = ["torch_target_version"] + names,
            target_under_test = misfit,
        )
    _cuda_test(
        name = "torch_cuda_test",
        size = "small",
    )
    _cuda_machines_test(
        name = "torch_cuda_machines_test",
        size = "small",
    )
    suite_of_new_tests(name, before)
