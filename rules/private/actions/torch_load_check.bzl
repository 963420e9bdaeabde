"""The check that an operator library loads into PyTorch."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")

visibility(["//rules/..."])

LOAD_CHECK_ATTRS = {
    "_load_check": attr.label(
        default = "//torch_ops:load_check",
        executable = True,
        cfg = "exec",
    ),
}

def load_torch_ops(ctx, library, manifest, needed):
    """A validation: the library loads, and defines what its manifest says.

    Args:
      ctx: of a rule with LOAD_CHECK_ATTRS and a C++ toolchain.
      library: File.
      manifest: File, its .torch.json.
      needed: list[File], the shared libraries that it needs.
    Returns:
      File: the list of its operators.
    """
    operators = ctx.actions.declare_file(ctx.label.name + ".torch_operators.json")
    args = ctx.actions.args()
    args.add(library, format = "--library=%s")
    args.add(manifest, format = "--manifest=%s")
    args.add(find_cc_toolchain(ctx).nm_executable, format = "--nm=%s")
    args.add(operators, format = "--output=%s")
    ctx.actions.run(
        executable = ctx.executable._load_check,
        arguments = [args],
        inputs = depset([library, manifest] + needed, transitive = [find_cc_toolchain(ctx).all_files]),
        outputs = [operators],
        mnemonic = "EtTorchLoad",
        progress_message = "Loading %{label} into PyTorch",
    )
    return operators
