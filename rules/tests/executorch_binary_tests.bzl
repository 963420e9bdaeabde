"""Analysis tests of executorch_binary and executorch_program_test."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load(
    "//rules:defs.bzl",
    "et_size_report",
    "executorch_backend",
    "executorch_binary",
    "executorch_ops_check",
    "executorch_prebuilt_kernels",
    "executorch_program_test",
)

# buildifier: disable=bzl-visibility
load("//rules/private/toolchains:registry_size.bzl", "DEFAULT_MAX_KERNELS")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "case", "failure_test", "main_source", "suite_of_new_tests", "values_of")

def _binary_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    check = action_with_mnemonic(env, "EtCheck")
    asserts.equals(env, "check", check.argv[1])
    assert_ends(env, ["rules/tests/program.pte"], values_of(check.argv, "--program"))
    asserts.equals(env, ["//rules/tests:program"], values_of(check.argv, "--program_name"))
    assert_ends(env, ["rules/tests/generated/registered.json"], values_of(check.argv, "--manifest"))
    asserts.equals(
        env,
        check.outputs.to_list(),
        target[OutputGroupInfo]._validation.to_list(),
        "every build of the binary runs the check",
    )
    unlinked = [f.basename for f in check.inputs.to_list() if f.basename.endswith(".pic.o")]
    asserts.equals(env, [], unlinked, "only what the binary links is read, so that nothing else is compiled")
    main = main_source(env)
    asserts.true(env, "\"{}/rules/tests/program.pte\"".format(ctx.workspace_name) in main, main)
    asserts.true(env, "/*check=*/false" in main)
    asserts.true(env, "/*methods=*/{}" in main)
    runfiles = [f.basename for f in target[DefaultInfo].default_runfiles.files.to_list()]
    for file in ["program.pte", "program.ptd", "libexecutorch.so"]:
        asserts.true(env, file in runfiles, "{} is among the runfiles {}".format(file, runfiles))
    return analysistest.end(env)

_binary_test = analysistest.make(
    _binary_test_impl,
    config_settings = {
        "//command_line_option:compilation_mode": "opt",
        "//command_line_option:force_pic": False,
    },
)

def _size_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    measure = action_with_mnemonic(env, "EtSize")
    assert_ends(env, ["rules/tests/generated/registered.json"], values_of(measure.argv, "--manifest"))
    asserts.true(env, "libexecutorch.so" in [path.rpartition("/")[2] for path in values_of(measure.argv, "--library")])
    asserts.equals(env, measure.outputs.to_list(), target[DefaultInfo].files.to_list())
    (label, _, other) = values_of(measure.argv, "--what_if")[0].partition("\t")
    asserts.equals(env, "//rules/tests:binary_with_profile", label)
    assert_ends(env, ["rules/tests/binary_with_profile"], [other])
    assert_ends(env, ["rules/tests/generated/registered.json"], values_of(measure.argv, "--what_if_manifest"))
    limit = action_with_mnemonic(env, "EtSizeLimit")
    asserts.equals(env, ["1000"], values_of(limit.argv, "--max_bytes"))
    validations = target[OutputGroupInfo]._validation.to_list()
    for output in limit.outputs.to_list():
        asserts.true(env, output in validations, "{} is among the validations {}".format(output, validations))
    return analysistest.end(env)

_size_test = analysistest.make(_size_test_impl)

def _macos_size_test_impl(ctx):
    env = analysistest.begin(ctx)
    measure = action_with_mnemonic(env, "EtSize")
    assert_ends(env, ["rules/tests/libruntime.dylib"], values_of(measure.argv, "--library"))
    return analysistest.end(env)

_macos_size_test = analysistest.make(_macos_size_test_impl)

def _profile_test_impl(ctx):
    env = analysistest.begin(ctx)
    main = main_source(env)
    asserts.equals(env, ctx.attr.takes_profiles, "::ProfilingRunnerMain(" in main, main)
    target = analysistest.target_under_test(env)
    runfiles = [f.basename for f in target[DefaultInfo].default_runfiles.files.to_list()]
    asserts.equals(env, ctx.attr.takes_profiles, "libexecutorch_etdump.so" in runfiles)

    # What has the target's name in bazel-bin is what runs.
    asserts.equals(env, target.label.name, target[DefaultInfo].files_to_run.executable.basename)
    return analysistest.end(env)

_profile_test = analysistest.make(
    _profile_test_impl,
    attrs = {"takes_profiles": attr.bool()},
)

def _unused_functions_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "CppLink").argv
    asserts.equals(env, ctx.attr.are_dropped, "-Wl,--gc-sections" in argv)
    return analysistest.end(env)

_fastbuild_functions_test, _dbg_functions_test = [
    analysistest.make(
        _unused_functions_test_impl,
        attrs = {"are_dropped": attr.bool()},
        config_settings = {"//command_line_option:compilation_mode": mode},
    )
    for mode in ["fastbuild", "dbg"]
]

def _ops_check_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    check = action_with_mnemonic(env, "EtCheck")
    asserts.equals(env, [], values_of(check.argv, "--program"))
    asserts.equals(env, ["//rules/tests:ops_check"], values_of(check.argv, "--label"))
    asserts.equals(env, [str(DEFAULT_MAX_KERNELS)], values_of(check.argv, "--max_kernels"))
    assert_ends(env, ["rules/tests/generated/registered.json"], values_of(check.argv, "--manifest"))
    listings = values_of(check.argv, "--listing")
    assert_ends(env, ["rules/tests/prebuilt_kernels.operators"], listings)
    asserts.true(env, listings[0].startswith("//rules/tests:prebuilt_kernels\t"), listings[0])
    asserts.true(
        env,
        [listed for listed in values_of(check.argv, "--listed") if listed.endswith("libexecutorch.so")],
        "what the runtime registers is known",
    )
    asserts.true(
        env,
        [file for file in values_of(check.argv, "--whole_object") if file.endswith("libexecutorch.so")],
        "shared libraries are looked into",
    )
    whole = [value.partition("\t")[0] for value in values_of(check.argv, "--whole_object")]
    asserts.true(env, "//rules/tests:whole_library" in whole, "{}".format(whole))
    asserts.true(env, "//rules/tests:generated" in whole, "{}".format(whole))
    asserts.equals(env, ["//rules/tests:backend\tMyBackend", "//rules/tests:backend\tOther"], values_of(check.argv, "--backend"))
    objects = [value.partition("\t")[0] for value in values_of(check.argv, "--object")]
    asserts.true(env, "//rules/tests:plain_library" in objects, "{}".format(objects))
    asserts.equals(env, check.outputs.to_list(), target[OutputGroupInfo]._validation.to_list())
    asserts.equals(env, check.outputs.to_list(), target[DefaultInfo].files.to_list())
    return analysistest.end(env)

_ops_check_test = analysistest.make(
    _ops_check_test_impl,
    doc = "A check sees generated and prebuilt libraries behind plain C++ ones, and the objects of these.",
)

def _selective_binary_test_impl(ctx):
    env = analysistest.begin(ctx)
    check = action_with_mnemonic(env, "EtCheck")
    assert_ends(
        env,
        ["rules/tests/generated_selective/selective_build/dtypes.json"],
        values_of(check.argv, "--dtypes"),
    )
    return analysistest.end(env)

_selective_binary_test = analysistest.make(_selective_binary_test_impl)

def _weights_test_impl(ctx):
    env = analysistest.begin(ctx)
    main = main_source(env)
    texts = ["\"{}/rules/tests/{}\"".format(ctx.workspace_name, file) for file in ctx.attr.weights]
    asserts.true(env, "/*weights=*/{" + ", ".join(texts) + "}" in main, main)
    runfiles = [f.basename for f in analysistest.target_under_test(env)[DefaultInfo].default_runfiles.files.to_list()]
    for file in ctx.attr.weights:
        asserts.true(env, file in runfiles, "the weights are runfiles")
    check = action_with_mnemonic(env, "EtCheck")
    assert_ends(env, ctx.attr.weights, values_of(check.argv, "--weights"))
    assert_ends(env, ctx.attr.origins, values_of(check.argv, "--origins"))
    inputs = [f.basename for f in check.inputs.to_list()]
    for file in ctx.attr.weights + ctx.attr.origins:
        asserts.true(env, file in inputs, file + " is an input")
    return analysistest.end(env)

_weights_test = analysistest.make(
    _weights_test_impl,
    attrs = {
        "origins": attr.string_list(default = ["external.origins.json"]),
        "weights": attr.string_list(default = ["external.weights.ptd"]),
    },
)

def _program_test_test_impl(ctx):
    env = analysistest.begin(ctx)
    main = main_source(env)
    for part in ["/*check=*/true", "/*rtol=*/1e-3", "/*atol=*/{}", "/*min_snr=*/20", "/*methods=*/{\"forward\", \"a\\\"b\"}"]:
        asserts.true(env, part in main, "{} in {}".format(part, main))
    check = action_with_mnemonic(env, "EtCheck")
    asserts.equals(env, ["forward", "a\"b"], values_of(check.argv, "--method"))
    return analysistest.end(env)

_program_test_test = analysistest.make(_program_test_test_impl)

def executorch_binary_test_suite(name):
    """Tests of executorch_binary and executorch_program_test.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    executorch_binary(
        name = "binary",
        program = ":program",
        tags = ["manual"],
        deps = [":generated"],
    )
    cc_library(
        name = "linking_selective",
        tags = ["manual"],
        deps = [":generated_selective"],
    )
    case(
        name = "binary_selective",
        rule = executorch_binary,
        test = _selective_binary_test,
        program = ":program",
        deps = [":linking_selective"],
    )
    case(
        name = "program_judged",
        rule = executorch_program_test,
        test = _program_test_test,
        size = "small",
        methods = [
            "forward",
            "a\"b",
        ],
        min_snr = "20",
        program = ":program",
        rtol = "1e-3",
        deps = [":generated"],
    )
    case(
        name = "program_with_weights",
        rule = executorch_program_test,
        test = _weights_test,
        size = "small",
        program = ":external",
        deps = [":generated"],
    )
    case(
        name = "program_with_shared_weights",
        expect = {"weights": ["shared.weights.ptd"]},
        rule = executorch_binary,
        test = _weights_test,
        program = ":external",
        weights = ":shared",
        deps = [":generated"],
    )
    case(
        name = "program_with_weights_over_a_base",
        expect = {"weights": ["external.weights.ptd", "over_base.weights.ptd", "over_both.weights.ptd"]},
        rule = executorch_binary,
        test = _weights_test,
        program = ":external",
        weights = ":over_both",
        deps = [":generated"],
    )
    case(
        name = "program_and_weights_of_no_rule",
        expect = {
            "origins": [],
            "weights": ["a.weights.ptd", "b.weights.ptd"],
        },
        rule = executorch_binary,
        test = _weights_test,
        program = "a.pte",
        weights = ":weights_files",
        deps = [":generated"],
    )
    native.filegroup(
        name = "weights_files",
        srcs = [
            "a.weights.ptd",
            "b.weights.ptd",
        ],
        tags = ["manual"],
    )
    case(
        name = "weights_without_program",
        expect = {
            "id": "other-weights",
            "names": ["attribute weights", "no program", "//rules/tests:weights_files"],
        },
        rule = executorch_binary,
        test = failure_test,
        weights = ":weights_files",
        deps = [":generated"],
    )
    case(
        name = "program_with_other_weights",
        expect = {
            "id": "other-weights",
            "names": ["attribute weights", "//rules/tests:program", "//rules/tests:shared"],
        },
        rule = executorch_binary,
        test = failure_test,
        program = ":program",
        weights = ":shared",
        deps = [":generated"],
    )
    case(
        name = "program_without_samples",
        expect = {
            "id": "no-samples",
            "names": ["//rules/tests:a.pte"],
        },
        rule = executorch_program_test,
        test = failure_test,
        size = "small",
        program = "a.pte",
        deps = [":generated"],
    )
    case(
        name = "size",
        rule = et_size_report,
        test = _size_test,
        binary = ":binary",
        max_bytes = 1000,
        what_if = [":binary_with_profile"],
    )
    cc_binary(
        name = "binary_with_macos_library",
        srcs = ["op_a.cpp"],
        data = ["libruntime.dylib"],
        tags = ["manual"],
    )
    case(
        name = "size_macos",
        rule = et_size_report,
        test = _macos_size_test,
        binary = ":binary_with_macos_library",
    )
    case(
        name = "size_what_if_library",
        expect = {
            "id": "what-if-without-binary",
            "names": ["attribute what_if", "//rules/tests:generated."],
        },
        rule = et_size_report,
        test = failure_test,
        binary = ":binary",
        what_if = [":generated"],
    )
    case(
        name = "size_bad_limit",
        expect = {
            "id": "bad-max-bytes",
            "names": ["attribute max_bytes", "-1"],
        },
        rule = et_size_report,
        test = failure_test,
        binary = ":binary",
        max_bytes = -1,
    )
    case(
        name = "program_bad_tolerance",
        expect = {
            "id": "bad-tolerance",
            "names": ["attribute rtol", "\"small\""],
        },
        rule = executorch_program_test,
        test = failure_test,
        size = "small",
        program = ":program",
        rtol = "small",
        deps = [":generated"],
    )
    case(
        name = "program_infinite_tolerance",
        expect = {
            "id": "bad-tolerance",
            "names": ["attribute atol", "\"1e999\""],
        },
        rule = executorch_program_test,
        test = failure_test,
        size = "small",
        atol = "1e999",
        program = ":program",
        deps = [":generated"],
    )
    cc_library(
        name = "plain_library",
        srcs = ["op_a.cpp"],
        tags = ["manual"],
        deps = [":whole_library"],
    )
    cc_library(
        name = "whole_library",
        srcs = ["op_a.cpp"],
        alwayslink = True,
        tags = ["manual"],
        deps = [
            ":backend",
            ":generated",
            ":prebuilt_kernels",
        ],
    )
    executorch_backend(
        name = "backend",
        backend_ids = [
            "MyBackend",
            "Other",
        ],
        library = "//runtime:program",
        tags = ["manual"],
    )
    case(
        name = "backend_without_name",
        expect = {
            "id": "empty-name",
            "names": ["attribute backend_ids"],
        },
        rule = executorch_backend,
        test = failure_test,
        backend_ids = [""],
        library = "//runtime:program",
    )
    executorch_prebuilt_kernels(
        name = "prebuilt_kernels",
        library = "//runtime:program",
        lister = "//runtime:list_registered_operators",
        tags = ["manual"],
    )
    case(
        name = "ops_check",
        rule = executorch_ops_check,
        test = _ops_check_test,
        deps = [":plain_library"],
    )
    _binary_test(
        name = "binary_test",
        size = "small",
        target_under_test = ":binary",
    )
    executorch_binary(
        name = "binary_with_profile",
        profile = True,
        program = ":program",
        tags = ["manual"],
        deps = [":generated"],
    )
    _profile_test(
        name = "binary_without_profile_test",
        size = "small",
        target_under_test = ":binary",
    )
    _profile_test(
        name = "binary_with_profile_test",
        size = "small",
        takes_profiles = True,
        target_under_test = ":binary_with_profile",
    )
    _profile_test(
        name = "binary_profile_test",
        size = "small",
        takes_profiles = True,
        target_under_test = ":binary.profile",
    )
    _fastbuild_functions_test(
        name = "binary_fastbuild_test",
        size = "small",
        are_dropped = True,
        target_under_test = ":binary",
    )
    _dbg_functions_test(
        name = "binary_dbg_test",
        size = "small",
        target_under_test = ":binary",
    )
    suite_of_new_tests(name, before)
