"""Analysis tests of et_kernel_library."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules:defs.bzl", "et_kernel_library", "executorch_generated_lib")
load("//rules:providers.bzl", "EtKernelInfo")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "case", "failure_test", "suite_of_new_tests", "values_of")

def _providers_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    sources = {s.file.basename: s.operators for s in target[EtKernelInfo].sources.to_list()}
    asserts.equals(env, {
        "op_a.cpp": ("aten::a.out", "aten::a.Scalar_out"),
        "op_b.cpp": ("aten::b.out",),
        "shared.cpp": (),
    }, sources)
    copts = {s.file.basename: s.copts for s in target[EtKernelInfo].sources.to_list()}
    asserts.equals(env, ("-fwrapv",), copts["shared.cpp"])
    asserts.equals(env, (), copts["op_a.cpp"])
    libraries = [
        library
        for linker_input in target[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
    ]
    asserts.equals(env, 2, len(libraries), "both archives link")
    asserts.false(env, libraries[0].alwayslink, "a kernel that nothing refers to must not be linked")
    compiled = [a for a in analysistest.target_actions(env) if a.mnemonic == "CppCompile"]
    asserts.true(env, len(compiled) > 0)
    asserts.true(env, "C10_USING_CUSTOM_GENERATED_MACROS" in target[CcInfo].compilation_context.defines.to_list())
    return analysistest.end(env)

_providers_test = analysistest.make(_providers_test_impl)

def _declaring_test_impl(ctx):
    env = analysistest.begin(ctx)
    collect = action_with_mnemonic(env, "EtCollect")
    asserts.equals(env, "collect", collect.argv[1])
    asserts.equals(env, ["//rules/tests:kernels_declaring"], values_of(collect.argv, "--label"))
    asserts.true(env, values_of(collect.argv, "--object"), "object files are read")
    for compile in analysistest.target_actions(env):
        if compile.mnemonic == "CppCompile":
            asserts.true(env, "-DRULES_EXECUTORCH_DECLARES_OPERATORS" in compile.argv)
    headers = analysistest.target_under_test(env)[CcInfo].compilation_context.headers.to_list()
    asserts.true(env, "operator.h" in [f.basename for f in headers])
    return analysistest.end(env)

_declaring_test = analysistest.make(_declaring_test_impl)

def _declared_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, [], values_of(action_with_mnemonic(env, "EtGenerate").argv, "--custom_ops_yaml"))
    assert_ends(
        env,
        ["rules/tests/kernels_declaring.declared.json"],
        values_of(action_with_mnemonic(env, "EtGenerate").argv, "--declared_operators"),
    )
    return analysistest.end(env)

_declared_test = analysistest.make(_declared_test_impl)

def _yamls_test_impl(ctx):
    env = analysistest.begin(ctx)
    generate = action_with_mnemonic(env, "EtGenerate")
    brought = values_of(generate.argv, "--kernel_yaml")
    assert_ends(env, ctx.attr.yamls, sorted(brought))
    inputs = [f.path for f in generate.inputs.to_list()]
    for path in brought:
        asserts.true(env, path in inputs, path + " is an input")
    return analysistest.end(env)

_yamls_test = analysistest.make(
    _yamls_test_impl,
    attrs = {"yamls": attr.string_list()},
)

def _linked(linking_context):
    return [
        (library.static_library or library.pic_static_library).basename.removesuffix(".pic.a").removesuffix(".a")
        for linker_input in linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
        if library.static_library or library.pic_static_library
    ]

def _links_selected_only_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    linked = _linked(target[CcInfo].linking_context)
    read = " ".join([f.path for f in action_with_mnemonic(env, "EtBindKernels").inputs.to_list()])
    for library in ["kernels_alone", "kernels_a", "kernels_b"]:
        is_needed = ctx.attr.links_all or library != "kernels_alone"
        asserts.equals(env, is_needed, "lib" + library in linked, library + " is linked")
        asserts.equals(env, is_needed, "/_objs/{}/".format(library) in read, library + " is read")
    asserts.equals(env, not ctx.attr.links_all, "objs/generated_of_selected_kernels_" in read, "selected files are read")
    return analysistest.end(env)

_links_selected_only_test = analysistest.make(
    _links_selected_only_test_impl,
    attrs = {"links_all": attr.bool()},
)

def et_kernel_library_test_suite(name):
    """Tests of et_kernel_library.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    et_kernel_library(
        name = "kernels_b",
        srcs = [
            "op_b.cpp",
            "shared.cpp",
        ],
        copts = ["-fwrapv"],
        operators = {
            "op_b.cpp": ["aten::b.out"],
            "shared.cpp": [],
        },
        tags = ["manual"],
    )
    et_kernel_library(
        name = "kernels_a",
        srcs = ["op_a.cpp"],
        operators = {"op_a.cpp": [
            "aten::a.out",
            "aten::a.Scalar_out",
        ]},
        tags = ["manual"],
        deps = [":kernels_b"],
    )
    case(
        name = "kernels_misnamed",
        expect = {
            "id": "not-a-source",
            "names": ["attribute operators", "op_a.\n", "op_a.cpp"],
        },
        rule = et_kernel_library,
        test = failure_test,
        srcs = ["op_a.cpp"],
        operators = {"op_a": ["aten::a.out"]},
    )
    et_kernel_library(
        name = "kernels_alone",
        srcs = ["op_c.cpp"],
        links_selected_only = True,
        operators = {"op_c.cpp": ["aten::c.out"]},
        tags = ["manual"],
        # What a file calls is linked, also where it is a kernel.
        deps = [":kernels_a"],
    )
    et_kernel_library(
        name = "kernels_around_alone",
        tags = ["manual"],
        yamls = ["functions.yaml"],
        deps = [":kernels_alone"],
    )
    for is_selective in [False, True]:
        library = "generated_of_selected" if is_selective else "generated_of_libraries"
        executorch_generated_lib(
            name = library,
            dtype_selective_build = is_selective,
            kernel_deps = [":kernels_around_alone"],
            tags = ["manual"],
            deps = [":selection_all"],
        )
        _links_selected_only_test(
            name = library + "_test",
            size = "small",
            links_all = not is_selective,
            target_under_test = ":" + library,
        )
    case(
        name = "kernels_unmapped",
        expect = {
            "id": "unmapped-source",
            "names": ["links_selected_only", "attribute operators", "shared.cpp"],
        },
        rule = et_kernel_library,
        test = failure_test,
        srcs = [
            "op_a.cpp",
            "shared.cpp",
        ],
        links_selected_only = True,
        operators = {
            "op_a.cpp": ["aten::a.out"],
            "shared.cpp": [],
        },
    )
    _providers_test(
        name = "kernels_test",
        size = "small",
        target_under_test = ":kernels_a",
    )
    et_kernel_library(
        name = "kernels_with_yaml",
        tags = ["manual"],
        yamls = ["functions.yaml"],
        deps = [":kernels_a"],
    )
    et_kernel_library(
        name = "kernels_around_yaml",
        tags = ["manual"],
        yamls = ["custom_ops.yaml"],
        deps = [":kernels_with_yaml"],
    )
    executorch_generated_lib(
        name = "generated_of_yamls",
        kernel_deps = [":kernels_around_yaml"],
        tags = ["manual"],
        deps = [":selection_all"],
    )
    executorch_generated_lib(
        name = "generated_of_yamls_in_aten_mode",
        aten_mode = True,
        kernel_deps = [":kernels_around_yaml"],
        tags = ["manual"],
        deps = [":selection_all"],
    )
    for library, yamls in {
        "generated_of_yamls": ["custom_ops.yaml", "functions.yaml"],
        "generated_of_yamls_in_aten_mode": [],
    }.items():
        _yamls_test(
            name = library + "_test",
            size = "small",
            target_under_test = ":" + library,
            yamls = yamls,
        )
    et_kernel_library(
        name = "kernels_declaring",
        srcs = ["op_a.cpp"],
        declares_operators = True,
        tags = ["manual"],
    )
    et_kernel_library(
        name = "kernels_around_declaring",
        tags = ["manual"],
        deps = [":kernels_declaring"],
    )
    case(
        name = "generated_of_declared",
        rule = executorch_generated_lib,
        test = _declared_test,
        kernel_deps = [":kernels_around_declaring"],
        deps = [":selection_all"],
    )
    _declaring_test(
        name = "kernels_declaring_test",
        size = "small",
        target_under_test = ":kernels_declaring",
    )
    case(
        name = "kernels_of_two_lines",
        expect = {
            "id": "line-break",
            "names": ["attribute operators", r"aten::a.out\n--header=a.h"],
        },
        rule = et_kernel_library,
        test = failure_test,
        srcs = ["op_a.cpp"],
        operators = {"op_a.cpp": ["aten::a.out\n--header=a.h"]},
    )
    suite_of_new_tests(name, before)
