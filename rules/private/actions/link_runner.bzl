"""Linking a runner with the model that it runs by default."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/toolchains:runfiles_path.bzl", "runfiles_path")
load(":cc.bzl", "FEATURES_OF_OWN_SOURCES", "compile_cc", "configure_cc", "default_link_flags", "link_cc")
load(":dynamic_libraries.bzl", "dynamic_libraries")
load(":label_text.bzl", "label_text")

visibility(["//rules/..."])

BAD_TOLERANCE_ERR = """{label}: attribute {attribute}: expected a decimal number of at least 0 and below 1e308; got "{value}".

Likely cause: the value has a sign, a unit or a name, or is larger than a double can be.
Fix: give a decimal number of at least 0, e.g. {attribute} = "1e-4".
See: docs/errors.md#bad-tolerance"""

TOLERANCE_ATTRS = {
    "atol": attr.string(
        doc = "Absolute tolerance of the elements of floats, a decimal number. Default: [by dtype](runner.md#tolerances), or 1e-5 " +
              "with `rtol`.",
    ),
    "min_snr": attr.string(
        doc = "Lowest signal-to-noise ratio in decibels, a decimal number, of each output of floats: PyTorch's output " +
              "against the differences. Use this attribute for quantized programs, whose single elements may differ much; " +
              "20 is usual for int8. The test prints the ratio. Default: 0, with which the elements have the tolerances of `atol` and `rtol`.",
        default = "0",
    ),
    "rtol": attr.string(
        doc = "Relative tolerance of the elements of floats, a decimal number. Default: [by dtype](runner.md#tolerances), or 1e-5 " +
              "with `atol`.",
    ),
}

_MAIN = """\
// Generated for {label}.
#include "{header}"

int main(int argc, char** argv) {{
  return rules_executorch::{function}(
      argc, argv,
      {{/*program=*/"{program}", /*weights=*/{{{weights}}}, /*samples=*/"{samples}", /*check=*/{check}, /*rtol=*/{rtol}, /*atol=*/{atol},
        /*min_snr=*/{min_snr}, /*methods=*/{{{methods}}}, /*numbers=*/{numbers}}});
}}
"""

def _runfile_text(ctx, file):
    """For a string literal. Bazel has no file with a backslash in its name."""
    return runfiles_path(ctx.workspace_name, file).replace("\"", "\\\"") if file else ""

def check_tolerances(ctx):
    """Fails if a tolerance is no number.

    Args:
      ctx: of a rule with TOLERANCE_ATTRS.
    """
    for attribute in ["rtol", "atol", "min_snr"]:
        value = getattr(ctx.attr, attribute)
        if not value and attribute != "min_snr":
            continue  # By dtype.
        mantissa, _, exponent = value.lower().partition("e")
        parts = [mantissa.replace(".", "", 1), exponent.removeprefix("-").removeprefix("+") if "e" in value.lower() else "0"]
        digits = mantissa.partition(".")[0].lstrip("0")
        is_number = not [part for part in parts if not part.isdigit()]
        if not is_number or len(digits) + (-1 if exponent.startswith("-") else 1) * int(parts[1]) > 308:
            fail(BAD_TOLERANCE_ERR.format(label = ctx.label, attribute = attribute, value = value))

def link_runner(ctx, header, function, program, samples, check, methods = [], name = None, weights = [], numbers = None):
    """Links a runner.

    Args:
      ctx: the rule's context, with attributes deps, linkopts and _runner; with TOLERANCE_ATTRS if it compares outputs.
      header: str, the header that declares the runner's main function.
      function: str, its name.
      program: File or None, what it runs by default.
      samples: File or None, the samples of that.
      check: bool, whether it compares outputs with the samples' by default.
      methods: list[str], those of which it compares the outputs by default; empty for all.
      name: str or None, of the executable. Default: the target's.
      weights: list[File], the files with the constants that the program does not have.
      numbers: str or None, the target that compares the program with PyTorch node by node.
    Returns:
      (File, list[File]): the executable, and the shared libraries that it needs.
    """
    has_tolerances = hasattr(ctx.attr, "rtol")
    if has_tolerances:
        check_tolerances(ctx)
    main = ctx.actions.declare_file(ctx.label.name + ".main.cpp")
    ctx.actions.write(main, _MAIN.format(
        header = header,
        function = function,
        label = label_text(ctx.label),
        program = _runfile_text(ctx, program),
        samples = _runfile_text(ctx, samples),
        weights = ", ".join(["\"{}\"".format(_runfile_text(ctx, file)) for file in weights]),
        check = "true" if check else "false",
        rtol = has_tolerances and ctx.attr.rtol or "{}",
        atol = has_tolerances and ctx.attr.atol or "{}",
        min_snr = ctx.attr.min_snr if has_tolerances else "0",
        methods = ", ".join([json.encode(method) for method in methods]),
        numbers = json.encode(numbers or ""),
    ))
    runner = ctx.attr._runner[CcInfo]
    cc = configure_cc(ctx, FEATURES_OF_OWN_SOURCES)
    _, objects = compile_cc(
        cc,
        srcs = [main],
        # Operator libraries have headers that do not go together with ExecuTorch's, such as PyTorch's.
        compilation_contexts = [runner.compilation_context],
    )
    linking_contexts = [runner.linking_context] + [dep[CcInfo].linking_context for dep in ctx.attr.deps]
    linked = link_cc(
        cc,
        objects,
        linking_contexts,
        name = name,
        user_link_flags = default_link_flags(cc) + ctx.attr.linkopts,
    )
    return linked.executable, dynamic_libraries(linking_contexts)
