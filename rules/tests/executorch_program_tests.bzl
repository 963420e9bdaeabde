"""Analysis tests of executorch_program."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//rules:defs.bzl", "et_memory_report", "executorch_program", "executorch_weights")
load("//rules:providers.bzl", "EtProgramInfo")
load("//rules/private/actions:qnn_environment.bzl", "NO_QNN_SDK")
load("//rules/private/providers:qnn_op_package_library_info.bzl", "QnnOpPackageLibraryInfo")
load("//rules/private/toolchains:qnn_platform.bzl", "QnnSdkInfo")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "case", "failure_test", "suite_of_new_tests", "values_of")
load(":newer_py_library.bzl", "newer_py_library")

def _export_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    action = action_with_mnemonic(env, "EtExport")
    asserts.equals(env, ["//rules/tests:program"], values_of(action.argv, "--label"))
    asserts.equals(env, ["make"], values_of(action.argv, "--entry_point"))
    assert_ends(env, ["rules/tests/model.py"], values_of(action.argv, "--model"))
    asserts.equals(env, ".", values_of(action.argv, "--import_path")[0])
    inputs = [f.basename for f in action.inputs.to_list()]
    for file in ["model.py", "operator.py", "weights.bin", "program_op_package"]:
        asserts.true(env, file in inputs, file + " is an input")
    asserts.equals(env, ctx.attr._qnn_sdk[QnnSdkInfo].root, action.env["QNN_SDK_ROOT"])
    op_package = [f.path for f in action.inputs.to_list() if f.basename == "program_op_package"][0]
    asserts.true(env, action.env["LD_LIBRARY_PATH"].endswith(op_package), "LD_LIBRARY_PATH ends with " + op_package)
    asserts.equals(env, ["xnnpack", "other"], values_of(action.argv, "--backend"))
    asserts.equals(env, ["xnnpack_int8"], values_of(action.argv, "--quantize"))
    asserts.equals(
        env,
        [
            "program.pte",
            "program.ptd",
            "program.delegation.txt",
            "program.delegation.json",
            "program.passes.txt",
            "program.passes.json",
            "program.origins.json",
        ],
        [f.basename for f in action.outputs.to_list()],
    )
    asserts.equals(
        env,
        ["program.delegation.txt", "program.delegation.json"],
        [f.basename for f in target[OutputGroupInfo].delegation_report.to_list()],
    )
    record = action_with_mnemonic(env, "EtRecord")
    asserts.equals(env, target[OutputGroupInfo].etrecord.to_list(), record.outputs.to_list())
    assert_ends(env, ["rules/tests/program.etrecord"], values_of(record.argv, "--etrecord"))
    asserts.equals(env, ["xnnpack", "other"], values_of(record.argv, "--backend"))
    timed = action_with_mnemonic(env, "EtExportTimes")
    asserts.equals(env, target[OutputGroupInfo].times.to_list(), timed.outputs.to_list())
    asserts.equals(env, ["program.times.txt"], [f.basename for f in timed.outputs.to_list()])
    assert_ends(env, ["rules/tests/program.times.txt"], values_of(timed.argv, "--times"))
    asserts.equals(env, ["xnnpack", "other"], values_of(timed.argv, "--backend"))
    asserts.equals(env, ["no_ops", "linear"], values_of(action.argv, "--graph_passes"))
    asserts.false(env, "--verbose" in action.argv or "--traceback" in action.argv)
    asserts.equals(
        env,
        ["program.passes.txt", "program.passes.json"],
        [f.basename for f in target[OutputGroupInfo].graph_pass_report.to_list()],
    )
    asserts.equals(env, "program.pte", target[EtProgramInfo].program.basename)
    asserts.equals(env, "program.delegation.json", target[EtProgramInfo].delegation.basename)
    asserts.equals(env, "program.ptd", target[EtProgramInfo].samples.basename)
    asserts.equals(env, None, target[EtProgramInfo].weights)
    asserts.equals(env, [target[EtProgramInfo].program], target[DefaultInfo].files.to_list())
    return analysistest.end(env)

_export_test = analysistest.make(
    _export_test_impl,
    attrs = {"_qnn_sdk": attr.label(default = "@executorch_qnn//:sdk")},
)

def _without_qnn_test_impl(ctx):
    env = analysistest.begin(ctx)
    action = action_with_mnemonic(env, "EtExport")
    asserts.equals(env, NO_QNN_SDK | {"PYTHONHASHSEED": "0"}, action.env)
    asserts.equals(env, ["default"], values_of(action.argv, "--graph_passes"))
    asserts.false(env, "--nocheck_program" in action.argv)
    return analysistest.end(env)

_without_qnn_test = analysistest.make(_without_qnn_test_impl)

def _verbose_test_impl(ctx):
    env = analysistest.begin(ctx)
    action = action_with_mnemonic(env, "EtExport")
    asserts.true(env, "--verbose" in action.argv)
    asserts.true(env, "--traceback" in action.argv)
    asserts.true(env, "--strict_passes" in action.argv)
    return analysistest.end(env)

def _without_check_test_impl(ctx):
    env = analysistest.begin(ctx)
    for mnemonic in ["EtExport", "EtRecord", "EtExportTimes"]:
        asserts.true(env, "--nocheck_program" in action_with_mnemonic(env, mnemonic).argv)
    return analysistest.end(env)

_without_check_test = analysistest.make(
    _without_check_test_impl,
    config_settings = {str(Label("//rules:check_programs")): False},
)

_verbose_test = analysistest.make(
    _verbose_test_impl,
    config_settings = {
        str(Label("//rules:export_traceback")): True,
        str(Label("//rules:export_verbose")): True,
        str(Label("//rules:strict_graph_passes")): True,
    },
)

def _sdk_test_impl(ctx):
    env = analysistest.begin(ctx)
    action = action_with_mnemonic(env, "EtExport")
    asserts.equals(env, ctx.attr._qnn_sdk[QnnSdkInfo].root, action.env["QNN_SDK_ROOT"])
    return analysistest.end(env)

_sdk_test = analysistest.make(
    _sdk_test_impl,
    attrs = {"_qnn_sdk": attr.label(default = "@executorch_qnn//:sdk")},
)

def _memory_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    action = action_with_mnemonic(env, "EtMemory")
    asserts.equals(env, ["//rules/tests:program"], values_of(action.argv, "--label"))
    assert_ends(env, ["rules/tests/program.pte"], values_of(action.argv, "--program"))
    assert_ends(env, ["rules/tests/program.origins.json"], values_of(action.argv, "--origins"))
    (label, _, other) = values_of(action.argv, "--what_if")[0].partition("\t")
    asserts.equals(env, "//rules/tests:a.pte", label)
    assert_ends(env, ["rules/tests/a.pte"], [other])
    asserts.equals(env, action.outputs.to_list(), target[DefaultInfo].files.to_list())
    limit = action_with_mnemonic(env, "EtMemoryLimit")
    asserts.equals(env, ["2000"], values_of(limit.argv, "--max_bytes"))
    asserts.equals(env, ["1000"], values_of(limit.argv, "--max_planned_bytes"))
    asserts.equals(env, limit.outputs.to_list(), target[OutputGroupInfo]._validation.to_list())
    return analysistest.end(env)

_memory_test = analysistest.make(_memory_test_impl)

def _external_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    weights = target[EtProgramInfo].weights
    asserts.equals(env, "external.weights.ptd", weights.basename)
    assert_ends(env, ["rules/tests/external.weights.ptd"], values_of(action_with_mnemonic(env, "EtExport").argv, "--weights"))
    asserts.equals(env, [], values_of(action_with_mnemonic(env, "EtRecord").argv, "--weights"))
    asserts.true(env, weights in target[DefaultInfo].default_runfiles.files.to_list(), "the weights are runfiles")
    asserts.equals(env, [weights], target[OutputGroupInfo].weights.to_list())
    return analysistest.end(env)

_external_test = analysistest.make(_external_test_impl)

def _shared_weights_test_impl(ctx):
    env = analysistest.begin(ctx)
    action = action_with_mnemonic(env, "EtWeights")
    inputs = ["rules/tests/external.weights.ptd", "rules/tests/other_external.weights.ptd"]
    assert_ends(env, inputs, values_of(action.argv, "--weights"))
    asserts.equals(env, [], values_of(action.argv, "--base"))
    assert_ends(env, ["rules/tests/shared.weights.ptd"], [f.path for f in action.outputs.to_list()])
    return analysistest.end(env)

_shared_weights_test = analysistest.make(_shared_weights_test_impl)

def _weights_over_base_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    action = action_with_mnemonic(env, "EtWeights")
    bases = ["external.weights.ptd", "over_base.weights.ptd"]
    assert_ends(env, ["other_external.weights.ptd"], values_of(action.argv, "--weights"))
    assert_ends(env, bases, values_of(action.argv, "--base"))
    for base in bases:
        asserts.true(env, base in [f.basename for f in action.inputs.to_list()], base + " is an input")
    asserts.equals(env, ["over_both.weights.ptd"], [f.basename for f in target[DefaultInfo].files.to_list()])
    runfiles = [f.basename for f in target[DefaultInfo].default_runfiles.files.to_list()]
    asserts.equals(env, sorted(bases + ["over_both.weights.ptd"]), sorted(runfiles))
    return analysistest.end(env)

_weights_over_base_test = analysistest.make(_weights_over_base_test_impl)

def _op_package_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run_shell(outputs = [folder], command = "false")
    return [QnnOpPackageLibraryInfo(folder = folder)]

# In place of a qnn_op_package_library, which is incompatible where no SDK is.
_op_package = rule(implementation = _op_package_impl)

def executorch_program_test_suite(name):
    """Tests of executorch_program.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    newer_py_library(
        name = "operator",
        srcs = ["operator.py"],
        tags = ["manual"],
    )
    _op_package(
        name = "program_op_package",
        tags = ["manual"],
    )
    case(
        name = "program",
        rule = executorch_program,
        test = _export_test,
        backends = [
            "xnnpack",
            "other",
        ],
        data = ["weights.bin"],
        entry_point = "make",
        graph_passes = [
            "no_ops",
            "linear",
        ],
        model = "model.py",
        qnn_op_packages = [":program_op_package"],
        quantize = "xnnpack_int8",
        deps = [":operator"],
    )
    executorch_program(
        name = "program_without_qnn",
        model = "model.py",
        tags = ["manual"],
    )
    case(
        name = "program_with_sdk",
        rule = executorch_program,
        test = _sdk_test,
        model = "model.py",
        qnn_sdk = True,
    )
    case(
        name = "external",
        rule = executorch_program,
        test = _external_test,
        model = "model.py",
        weights = "external",
    )
    executorch_program(
        name = "other_external",
        model = "model.py",
        tags = ["manual"],
        weights = "external",
    )
    case(
        name = "shared",
        rule = executorch_weights,
        test = _shared_weights_test,
        programs = [
            ":external",
            ":other_external",
        ],
    )
    executorch_weights(
        name = "over_base",
        base = ":external",
        programs = [":other_external"],
        tags = ["manual"],
    )
    case(
        name = "over_both",
        rule = executorch_weights,
        test = _weights_over_base_test,
        base = ":over_base",
        programs = [":other_external"],
    )
    case(
        name = "over_embedded",
        expect = {
            "id": "no-weights",
            "names": ["attribute base", "//rules/tests:program_without_qnn"],
        },
        rule = executorch_weights,
        test = failure_test,
        base = ":program_without_qnn",
        programs = [":external"],
    )
    case(
        name = "shared_embedded",
        expect = {
            "id": "no-weights",
            "names": ["attribute programs", "//rules/tests:program_without_qnn"],
        },
        rule = executorch_weights,
        test = failure_test,
        programs = [
            ":external",
            ":program_without_qnn",
        ],
    )
    case(
        name = "program_of_two_lines",
        expect = {
            "id": "line-break",
            "names": ["attribute entry_point", r"get_model\n--verbose"],
        },
        rule = executorch_program,
        test = failure_test,
        entry_point = "get_model\n--verbose",
        model = "model.py",
    )
    case(
        name = "program_with_empty_pass",
        expect = {
            "id": "empty-name",
            "names": ["attribute graph_passes"],
        },
        rule = executorch_program,
        test = failure_test,
        graph_passes = [
            "default",
            "",
        ],
        model = "model.py",
    )
    case(
        name = "program_not_python",
        expect = {
            "names": ["//rules/tests:weights.bin", "(expected .py)"],
        },
        rule = executorch_program,
        test = failure_test,
        model = "weights.bin",
    )
    case(
        name = "memory",
        rule = et_memory_report,
        test = _memory_test,
        max_bytes = 2000,
        max_planned_bytes = 1000,
        program = ":program",
        what_if = ["a.pte"],
    )
    case(
        name = "memory_bad_limit",
        expect = {
            "id": "bad-max-bytes",
            "names": ["attribute max_planned_bytes", "-1"],
        },
        rule = et_memory_report,
        test = failure_test,
        max_planned_bytes = -1,
        program = ":program",
    )
    _verbose_test(
        name = "program_verbose_test",
        size = "small",
        target_under_test = ":program_without_qnn",
    )
    _without_check_test(
        name = "program_without_check_test",
        size = "small",
        target_under_test = ":program_without_qnn",
    )
    _without_qnn_test(
        name = "program_without_qnn_test",
        size = "small",
        target_under_test = ":program_without_qnn",
    )
    suite_of_new_tests(name, before)
