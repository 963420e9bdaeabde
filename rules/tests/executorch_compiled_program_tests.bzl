"""Analysis tests of executorch_compiled_program."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules:defs.bzl", "executorch_compiled_program", "executorch_compiled_program_test", "executorch_generated_lib")
load(":analysis.bzl", "case", "failure_test", "suite_of_new_tests")

def _links_no_runtime_test_impl(ctx):
    env = analysistest.begin(ctx)
    linker_inputs = analysistest.target_under_test(env)[CcInfo].linking_context.linker_inputs.to_list()
    libraries = [library for each in linker_inputs for library in each.libraries]
    names = [(library.static_library or library.pic_static_library).basename for library in libraries if library.static_library or library.pic_static_library]
    dynamic = [library.dynamic_library.basename for library in libraries if library.dynamic_library]
    asserts.equals(env, [], dynamic, "libexecutorch is not linked")
    asserts.true(env, "libkernels.a" in names or "libkernels.pic.a" in names, names)
    asserts.false(env, [name for name in names if name == "liblibrary.a"], "the registration is not linked: {}".format(names))
    return analysistest.end(env)

_links_no_runtime_test = analysistest.make(_links_no_runtime_test_impl)

def executorch_compiled_program_test_suite(name):
    """Tests of the rules, and the targets that they look at.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    case(
        name = "compiled-program",
        expect = {
            "id": "bad-cpp-namespace",
            "names": ["attribute cpp_namespace", "\"compiled-program\"", "\"compiled_program\""],
        },
        rule = executorch_compiled_program,
        test = failure_test,
        library = "//tests/compiled:library",
        program = "//tests/compiled:mlp.pte",
    )
    executorch_generated_lib(
        name = "compiled_program_aten_lib",
        aten_mode = True,
        tags = ["manual"],
        deps = ["//tests/compiled:operators"],
    )
    case(
        name = "compiled_program_without_kernels",
        expect = {
            "id": "no-kernels",
            "names": ["attribute library", "compiled_program_aten_lib"],
        },
        rule = executorch_compiled_program,
        test = failure_test,
        library = ":compiled_program_aten_lib",
        program = "//tests/compiled:mlp.pte",
    )
    executorch_compiled_program(
        name = "compiled_program_of_file",
        library = "//tests/compiled:library",
        program = "a.pte",
        tags = ["manual"],
    )
    case(
        name = "compiled_program_without_samples",
        expect = {
            "id": "no-samples",
            "names": [":compiled_program_of_file"],
        },
        rule = executorch_compiled_program_test,
        test = failure_test,
        program = ":compiled_program_of_file",
    )
    case(
        name = "compiled_program_bad_tolerance",
        expect = {
            "id": "bad-tolerance",
            "names": ["attribute atol", "\"small\""],
        },
        rule = executorch_compiled_program_test,
        test = failure_test,
        atol = "small",
        program = "//tests/compiled:mlp",
    )
    _links_no_runtime_test(
        name = "compiled_program_links_no_runtime_test",
        size = "small",
        target_under_test = "//tests/compiled:lenet",
    )
    suite_of_new_tests(name, before)
