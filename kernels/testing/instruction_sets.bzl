"""Rule that writes the instruction sets of a build."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

visibility(["//kernels/testing"])

def _instruction_sets_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(out, ",".join(ctx.attr._instruction_sets[BuildSettingInfo].value))
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

instruction_sets = rule(
    doc = "A file with the value of //rules:instruction_sets in this build.",
    implementation = _instruction_sets_impl,
    attrs = {"_instruction_sets": attr.label(default = "//rules:instruction_sets", providers = [BuildSettingInfo])},
)
