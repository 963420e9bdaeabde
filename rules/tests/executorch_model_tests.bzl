"""Analysis tests of executorch_model."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules:defs.bzl", "executorch_model")

# buildifier: disable=bzl-visibility
load("//rules/private/executorch:library_conflict.bzl", "library_conflict")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "assert_error", "main_source", "suite_of_new_tests", "values_of")

def _program_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtExport").argv
    assert_ends(env, ["rules/tests/whole_model.pte"], values_of(argv, "--program"))
    assert_ends(env, ["rules/tests/whole_model.ptd"], values_of(argv, "--samples"))
    asserts.equals(env, ["//rules/tests:whole_model.pte"], values_of(argv, "--label"))
    asserts.equals(env, ["all"], values_of(argv, "--graph_passes"))
    asserts.equals(env, ["xnnpack"], values_of(argv, "--backend"))
    asserts.equals(env, ["xnnpack_int8"], values_of(argv, "--quantize"))
    asserts.equals(env, ["make"], values_of(argv, "--entry_point"))
    inputs = [f.basename for f in action_with_mnemonic(env, "EtExport").inputs.to_list()]
    for file in ["operator.py", "weights.bin"]:
        asserts.true(env, file in inputs, file + " is an input")
    return analysistest.end(env)

_program_test = analysistest.make(_program_test_impl)

def _library_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtGenerate").argv
    asserts.equals(env, [], values_of(argv, "--functions_yaml"))
    assert_ends(env, ["rules/tests/custom_ops.yaml"], values_of(argv, "--custom_ops_yaml"))
    brought = values_of(argv, "--kernel_yaml")
    for yaml in [
        "kernels/optimized/own_custom_ops.yaml",
        "kernels/optimized/own_functions.yaml",
        "kernels/portable/custom_ops.yaml",
        "kernels/portable/functions.yaml",
        "kernels/quantized/quantized.yaml",
    ]:
        asserts.true(env, [path for path in brought if path.endswith(yaml)], "{} is among {}".format(yaml, brought))
    assert_ends(env, ["rules/tests/whole_model_operators/selected_operators.yaml"], values_of(argv, "--selection"))
    pruned = [a for a in analysistest.target_actions(env) if a.mnemonic == "EtPruneKernels"]
    asserts.true(env, pruned, "dtypes are selected")
    return analysistest.end(env)

_library_test = analysistest.make(_library_test_impl)

def _operators_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtSelect").argv
    asserts.equals(env, ["//rules/tests:whole_model.pte", "//rules/tests:sharing_model.pte"], values_of(argv, "--model_name"))
    return analysistest.end(env)

_operators_test = analysistest.make(_operators_test_impl)

def _checked_test_impl(ctx):
    env = analysistest.begin(ctx)
    main = main_source(env)
    asserts.true(env, "/{}.pte\"".format(ctx.attr.model) in main, main)
    asserts.true(env, "/{}.ptd\"".format(ctx.attr.model) in main, main)
    asserts.true(env, ctx.attr.tolerance in main, main)
    check = action_with_mnemonic(env, "EtCheck")
    assert_ends(env, ["rules/tests/{}.pte".format(ctx.attr.model)], values_of(check.argv, "--program"))
    assert_ends(env, ["rules/tests/whole_model_lib/registered.json"], values_of(check.argv, "--manifest"))
    backends = [value.partition("\t")[2] for value in values_of(check.argv, "--backend")]
    asserts.equals(env, ctx.attr.backends, backends)
    asserts.true(env, "-Wl,-O2" in action_with_mnemonic(env, "CppLink").argv or not ctx.attr.backends, "linkopts")
    return analysistest.end(env)

_checked_test = analysistest.make(
    _checked_test_impl,
    attrs = {
        "backends": attr.string_list(),
        "model": attr.string(),
        "tolerance": attr.string(),
    },
)

def _custom_ops_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtGenerate").argv
    assert_ends(env, ["rules/tests/custom_ops.yaml"], values_of(argv, "--custom_ops_yaml"))
    asserts.equals(env, [], values_of(argv, "--kernel_yaml"), "PyTorch has our operators by the export")
    asserts.true(env, CcInfo in analysistest.target_under_test(env))
    bind = action_with_mnemonic(env, "EtBindKernels")
    compiled = [f.short_path for f in bind.inputs.to_list() if f.extension in ["a", "o"]]
    asserts.true(env, compiled, "kernels of the model's own are compiled")
    asserts.equals(env, [], [path for path in compiled if path.startswith("kernels/")], "the export waits for no other kernels")
    return analysistest.end(env)

_custom_ops_test = analysistest.make(_custom_ops_test_impl)

def _targets_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, [
        "custom_ops_whole_model_lib",
        "custom_ops_whole_model_lib_py",
        "sharing_model",
        "sharing_model.numbers",
        "sharing_model.profile",
        "sharing_model.pte",
        "sharing_model_memory",
        "sharing_model_numbers",
        "sharing_model_profile",
        "sharing_model_size",
        "sharing_model_test",
        "sharing_model_test.numbers",
        "whole_model",
        "whole_model.numbers",
        "whole_model.profile",
        "whole_model.pte",
        "whole_model_lib",
        "whole_model_lib_headers",
        "whole_model_memory",
        "whole_model_numbers",
        "whole_model_operators",
        "whole_model_profile",
        "whole_model_size",
        "whole_model_test",
        "whole_model_test.numbers",
    ], ctx.attr.made)
    asserts.equals(env, "medium", ctx.attr.test_sizes["whole_model_test"])
    asserts.equals(env, "large", ctx.attr.test_sizes["sharing_model_test"])
    return unittest.end(env)

_targets_test = unittest.make(_targets_test_impl, attrs = {
    "made": attr.string_list(doc = "The targets that the macro has made."),
    "test_sizes": attr.string_dict(),
})

def _conflict_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, None, library_conflict("//app:m", None, {"kernel_deps": [":k"]}))
    asserts.equals(env, None, library_conflict("//app:m", ":l", {"kernel_deps": [], "models": None}))
    message = library_conflict("//app:m", ":l", {"functions_yaml_target": None, "kernel_deps": [":k"], "models": [":n"]})
    assert_error(env, message, "//app:m", id = "library-conflict", names = ["library = \":l\"", "kernel_deps and models"])
    return unittest.end(env)

_conflict_test = unittest.make(_conflict_test_impl)

def executorch_model_test_suite(name):
    """Tests of executorch_model.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    executorch_model(
        name = "whole_model",
        backends = ["xnnpack"],
        custom_ops_yaml_target = "custom_ops.yaml",
        data = ["weights.bin"],
        entry_point = "make",
        kernel_deps = [":kernels_a"],
        linkopts = ["-Wl,-O2"],
        model = "model.py",
        models = [":sharing_model.pte"],
        quantize = "xnnpack_int8",
        tags = ["manual"],
        deps = [":operator"],
    )
    executorch_model(
        name = "sharing_model",
        size = "large",
        library = ":whole_model_lib",
        model = "model.py",
        rtol = "1e-3",
        tags = ["manual"],
    )
    _program_test(
        name = "whole_program_test",
        size = "small",
        target_under_test = ":whole_model.pte",
    )
    _library_test(
        name = "whole_library_test",
        size = "small",
        target_under_test = ":whole_model_lib",
    )
    _operators_test(
        name = "whole_operators_test",
        size = "small",
        target_under_test = ":whole_model_operators",
    )
    for target, model, tolerance, backends in [
        ("whole_model", "whole_model", "/*check=*/false, /*rtol=*/{}, /*atol=*/{},\n        /*min_snr=*/20,", ["XnnpackBackend"]),
        ("whole_model_test", "whole_model", "/*check=*/true, /*rtol=*/{}, /*atol=*/{},\n        /*min_snr=*/20,", ["XnnpackBackend"]),
        ("sharing_model", "sharing_model", "/*check=*/false, /*rtol=*/1e-3, /*atol=*/{},\n        /*min_snr=*/0,", []),
        ("sharing_model_test", "sharing_model", "/*check=*/true, /*rtol=*/1e-3, /*atol=*/{},\n        /*min_snr=*/0,", []),
    ]:
        _checked_test(
            name = "{}_checked_test".format(target),
            size = "small",
            backends = backends,
            model = model,
            target_under_test = ":" + target,
            tolerance = tolerance,
        )
    _custom_ops_test(
        name = "whole_custom_ops_test",
        size = "small",
        target_under_test = ":custom_ops_whole_model_lib",
    )
    made = {
        rule["name"]: rule
        for rule in native.existing_rules().values()
        if rule["name"].removeprefix("custom_ops_").startswith(("whole_model", "sharing_model")) and "manual" in rule["tags"]
    }
    _targets_test(
        name = "model_targets_test",
        size = "small",
        made = sorted(made),
        test_sizes = {name: made[name]["size"] for name in ["whole_model_test", "sharing_model_test"]},
    )
    _conflict_test(
        name = "model_conflict_test",
        size = "small",
    )
    suite_of_new_tests(name, before)
