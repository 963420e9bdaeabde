"""A test that the targets of an executorch_model are those that a page writes out."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")

def _same_targets_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.true(env, len(ctx.attr.of_in_one) > 7, "targets are found")
    asserts.equals(env, ctx.attr.of_written_out, ctx.attr.of_in_one)
    return unittest.end(env)

_same_targets_test = unittest.make(_same_targets_test_impl, attrs = {
    "of_in_one": attr.string_dict(doc = "The attributes of each target, by its name without the model's."),
    "of_written_out": attr.string_dict(),
})

# Those that either side gives. Bazel 7 crashes where an attribute is read that a select() makes None, as in et_operator_library.
_ATTRIBUTES = [
    "actual",
    "atol",
    "backends",
    "binary",
    "custom_ops_yaml_target",
    "deps",
    "dtype_selective_build",
    "entry_point",
    "env",
    "functions_yaml_target",
    "graph_passes",
    "kernel_deps",
    "kind",
    "library",
    "linkopts",
    "methods",
    "min_snr",
    "model",
    "program",
    "quantize",
    "rtol",
    "size",
    "tags",
]

def _targets(name):
    """The targets whose names begin with a name, each with its attributes as text."""
    return {
        rule["name"].removeprefix(name): "; ".join([
            "{} = {}".format(attribute, rule.get(attribute)).replace("@rules_executorch//", "//").replace(":" + name, ":model")
            for attribute in _ATTRIBUTES
            if not (attribute == "model" and rule["kind"] == "et_operator_library") and rule.get(attribute)
        ])
        for rule in native.existing_rules().values()
        if rule["name"] == name or rule["name"].startswith((name + ".", name + "_")) and "int8" not in rule["name"]
    }

def same_targets_test(name, in_one, written_out, **kwargs):
    """Compares targets of this package.

    Args:
      name: name of the test.
      in_one: name of an executorch_model.
      written_out: what the names of the other targets begin with.
      **kwargs: common attributes.
    """
    _same_targets_test(
        name = name,
        of_in_one = _targets(in_one),
        of_written_out = _targets(written_out),
        **kwargs
    )
