"""What rules have in common that run a tool on a model file."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_python//python:py_info.bzl", "PyInfo")
load("//rules/private/toolchains:import_paths.bzl", "import_paths")
load(":implicit_attributes.bzl", "build_setting")
load(":label_text.bzl", "label_text", "refuse_odd_name")
load(":param_file.bzl", "one_line_each")

visibility(["//rules/..."])

MODEL_FILE_ATTRS = {
    "data": attr.label_list(
        doc = "Files that the model's code reads, e.g. a checkpoint. A source file has its path in the workspace: `Path(\"app/weights.pt\")`, or " +
              "`Path(__file__).with_name(\"weights.pt\")` beside the model file. [Model files](../export/README.md) also has the paths of other files.",
        allow_files = True,
    ),
    "deps": attr.label_list(
        doc = "Python libraries that the model's code imports, besides torch and executorch.",
        providers = [PyInfo],
    ),
    "entry_point": attr.string(
        doc = "Function in the model file that returns (torch.nn.Module, tuple of example inputs).",
        default = "get_model",
    ),
    "model": attr.label(
        doc = "The Python file.",
        allow_single_file = [".py"],
        mandatory = True,
    ),
    "_traceback": build_setting("//rules:export_traceback"),
    "_verbose": build_setting("//rules:export_verbose"),
}

def add_model_file(ctx, args):
    """Adds the flags that name the model file to the tool.

    Args:
      ctx: the rule's context, with MODEL_FILE_ATTRS.
      args: Args.
    """
    refuse_odd_name(ctx.label)
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add(ctx.file.model, format = "--model=%s")
    args.add(one_line_each(ctx, "entry_point"), format = "--entry_point=%s")
    args.add_all(import_paths(ctx, ctx.attr.deps), format_each = "--import_path=%s")
    for flag in ["verbose", "traceback"]:
        if getattr(ctx.attr, "_" + flag)[BuildSettingInfo].value:
            args.add("--" + flag)

def model_file_inputs(ctx, tool):
    """The model's code and what it needs, less what the tool brings along itself, such as torch.

    Args:
      ctx: the rule's context, with MODEL_FILE_ATTRS.
      tool: Target of the tool.
    Returns:
      list[File]
    """

    # An environment that an action copied is the same in each configuration.
    brought = {
        file.short_path if file.is_directory else file: None
        for file in tool[DefaultInfo].default_runfiles.files.to_list()
    }
    needed = depset(
        [ctx.file.model],
        transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.deps] +
                     [dep[DefaultInfo].default_runfiles.files for dep in ctx.attr.deps] +
                     [target[DefaultInfo].files for target in ctx.attr.data],
    )
    return [file for file in needed.to_list() if file not in brought and not (file.is_directory and file.short_path in brought)]
