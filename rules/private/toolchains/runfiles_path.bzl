"""Where a program finds a file of its runfiles."""

visibility(["//rules/...", "//third_party/qemu"])

def runfiles_path(workspace_name, file):
    """The path of a file in a folder of runfiles, e.g. `_main/app/model.pte`.

    Args:
      workspace_name: str, ctx.workspace_name.
      file: File.
    Returns:
      str
    """
    path = file.short_path
    return path.removeprefix("../") if path.startswith("../") else workspace_name + "/" + path
