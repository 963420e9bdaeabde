"""The check that an operator library loads into PyTorch."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("//rules/private/toolchains:configured_platform.bzl", "ConfiguredPlatformInfo", "describe")
load(":cc.bzl", "group_cc_toolchain")
load(":label_text.bzl", "label_text")

visibility(["//rules/..."])

_GROUP = "python"

# Python runs here, and with it PyTorch; the C++ toolchain's nm runs besides.
LOAD_CHECK_EXEC_GROUPS = {_GROUP: exec_group(toolchains = use_cc_toolchain(mandatory = True))}

LOAD_CHECK_ATTRS = {
    "_load_check": attr.label(
        default = "//torch_ops:load_check",
        executable = True,
        cfg = config.exec(_GROUP),
    ),
    "_python_platform": attr.label(
        default = "//rules/private/toolchains:platform",
        cfg = config.exec(_GROUP),
        providers = [ConfiguredPlatformInfo],
    ),
    "_target_platform": attr.label(
        default = "//rules/private/toolchains:platform",
        providers = [ConfiguredPlatformInfo],
    ),
}

_NOT_LOADED = """\
{label} was not loaded into PyTorch: the library is for {target}, and Python runs on {python} in the build.
Whether the library loads and defines what its sources say is not checked, nor whether a package that needs the library
calls only operators that exist.
"""

def load_torch_ops(ctx, library, manifest, needed):
    """A validation: the library loads, and defines what its manifest says; left out where Python cannot load the library.

    Args:
      ctx: of a rule with LOAD_CHECK_ATTRS and LOAD_CHECK_EXEC_GROUPS.
      library: File.
      manifest: File, its .torch.json.
      needed: list[File], the shared libraries that it needs.
    Returns:
      struct(operators: list[File], the list of the library's operators, empty where the check was left out; report: File)
    """
    python = ctx.attr._python_platform[ConfiguredPlatformInfo]
    target = ctx.attr._target_platform[ConfiguredPlatformInfo]
    if (python.os, python.cpu) != (target.os, target.cpu):
        note = ctx.actions.declare_file(ctx.label.name + ".not_loaded.txt")
        ctx.actions.write(note, _NOT_LOADED.format(
            label = label_text(ctx.label),
            python = describe(python),
            target = describe(target),
        ))
        return struct(operators = [], report = note)
    cc_toolchain = group_cc_toolchain(ctx, _GROUP)
    operators = ctx.actions.declare_file(ctx.label.name + ".torch_operators.json")
    args = ctx.actions.args()
    args.add(library, format = "--library=%s")
    args.add(manifest, format = "--manifest=%s")
    args.add(cc_toolchain.nm_executable, format = "--nm=%s")
    args.add(operators, format = "--output=%s")
    ctx.actions.run(
        executable = ctx.executable._load_check,
        arguments = [args],
        inputs = depset([library, manifest] + needed, transitive = [cc_toolchain.all_files]),
        outputs = [operators],
        exec_group = _GROUP,
        mnemonic = "EtTorchLoad",
        progress_message = "Loading %{label} into PyTorch",
    )
    return struct(operators = [operators], report = operators)
