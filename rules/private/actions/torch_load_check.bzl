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
Whether the library loads is not checked, nor whether a package that needs the library calls only operators that exist. Of a
namespace that is a macro, the macro's name is known alone.
"""

def load_torch_ops(ctx, library, module, needed):
    """A validation: the library loads; left out where Python cannot load the library.

    Args:
      ctx: of a rule with LOAD_CHECK_ATTRS and LOAD_CHECK_EXEC_GROUPS.
      library: File.
      module: File, the Python module that is to load it.
      needed: list[File], the shared libraries that it needs.
    Returns:
      struct(registered: File, what the library registers, as .torch.json; operators: list[File], the list of its operators;
      report: File). Where the check was left out, `registered` is None and `operators` is empty.
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
        return struct(registered = None, operators = [], report = note)
    cc_toolchain = group_cc_toolchain(ctx, _GROUP)
    operators = ctx.actions.declare_file(ctx.label.name + ".torch_operators.json")
    registered = ctx.actions.declare_file(ctx.label.name + ".loaded.torch.json")
    args = ctx.actions.args()
    args.add(library, format = "--library=%s")
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add(module.basename.removesuffix(".py"), format = "--module_name=%s")
    args.add(registered, format = "--manifest=%s")
    args.add(cc_toolchain.nm_executable, format = "--nm=%s")
    args.add(operators, format = "--output=%s")
    ctx.actions.run(
        executable = ctx.executable._load_check,
        arguments = [args],
        inputs = depset([library] + needed, transitive = [cc_toolchain.all_files]),
        outputs = [operators, registered],
        exec_group = _GROUP,
        mnemonic = "EtTorchLoad",
        progress_message = "Loading %{label} into PyTorch",
    )
    return struct(registered = registered, operators = [operators], report = operators)
