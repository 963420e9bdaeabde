"""The instruction sets that kernels are compiled for."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load(":implicit_attributes.bzl", "build_setting")

visibility([
    "//rules/...",
    "//tests/platforms/...",
])

UNKNOWN_INSTRUCTION_SET_ERR = """{label}: flag //rules:instruction_sets: expected all, or some of {names}; got {name}.

Likely cause: {name} is misspelled, or is an instruction set of another processor than {cpu}.
Fix: name some of {names}; or all, for each of these.
See: docs/errors.md#unknown-instruction-set"""

# By processor, each set comprising those before it, with options of the compiler. Other files name the same sets:
# //rules/tests:instruction_set_names_test compares the names.
BASELINE = "baseline"
_ALL = "all"

# GCC prefers vectors of half the width.
_AVX512 = ["-march=x86-64-v4", "-mprefer-vector-width=512"]
INSTRUCTION_SETS_X86_64 = {
    BASELINE: [],
    "avx2": ["-march=x86-64-v3"],
    "avx512": _AVX512,
    "avx512_bf16": _AVX512 + ["-mavx512bf16", "-mavx512vnni"],
}
INSTRUCTION_SETS_ARM64 = {
    # With NEON.
    BASELINE: [],
    # Of 8.2, as GCC's functions for these instructions are.
    "dotprod": ["-march=armv8.2-a+dotprod"],
    "i8mm_bf16": ["-march=armv8.2-a+dotprod+i8mm+bf16"],
}
_OTHERS = {BASELINE: []}

INSTRUCTION_SET_ATTRS = {
    "_arm64": attr.label(
        default = "@platforms//cpu:aarch64",
        providers = [platform_common.ConstraintValueInfo],
    ),
    "_instruction_sets": build_setting("//rules:instruction_sets"),
    "_linux": attr.label(
        default = "@platforms//os:linux",
        providers = [platform_common.ConstraintValueInfo],
    ),
    "_x86_64": attr.label(
        default = "@platforms//cpu:x86_64",
        providers = [platform_common.ConstraintValueInfo],
    ),
}

def _known_sets(ctx):
    """The sets of the target's processor, and how a message names the processor."""
    has = {
        name: ctx.target_platform_has_constraint(constraint[platform_common.ConstraintValueInfo])
        for name, constraint in [("linux", ctx.attr._linux), ("x86_64", ctx.attr._x86_64), ("arm64", ctx.attr._arm64)]
    }
    if has["linux"] and has["x86_64"]:
        return INSTRUCTION_SETS_X86_64, "an x86-64 processor of Linux"
    if has["linux"] and has["arm64"]:
        return INSTRUCTION_SETS_ARM64, "an arm64 processor of Linux"
    return _OTHERS, "the target platform"

def instruction_sets(ctx, with_wide = True):
    """The instruction sets that the build asks for.

    Args:
      ctx: of a rule with INSTRUCTION_SET_ATTRS.
      with_wide: bool, whether there are libraries that ask for wider sets.
    Returns:
      struct(plain: str, plain_flags: list[str], wide: dict[str, list[str]]): the narrowest set, which all kernels are compiled
        for, and wider ones, from the widest on, which libraries that ask for it are compiled for besides; with options.
    """
    known, processor = _known_sets(ctx)
    asked = ctx.attr._instruction_sets[BuildSettingInfo].value
    for name in asked:
        if name != _ALL and name not in known:
            fail(UNKNOWN_INSTRUCTION_SET_ERR.format(
                label = ctx.label,
                name = name,
                cpu = processor,
                names = ", ".join(known),
            ))
    names = [name for name in known if _ALL in asked or name in asked] or [BASELINE]
    return struct(
        plain = names[0],
        plain_flags = known[names[0]],
        wide = {name: known[name] for name in (reversed(names[1:]) if with_wide else [])},
    )
