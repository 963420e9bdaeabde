"""Import paths of Python modules in actions."""

load("@rules_python//python:py_info.bzl", "PyInfo")

visibility(["//rules/..."])

def import_paths(ctx, deps):
    """Returns the import paths of dependencies: repository roots of source and generated files, then their `imports`.

    Args:
      ctx: the rule's context.
      deps: list of targets with PyInfo.
    Returns:
      list[str]: paths relative to the execution root.
    """
    main = ctx.workspace_name
    paths = {".": None, ctx.bin_dir.path: None}
    if ctx.label.workspace_root:
        paths[ctx.label.workspace_root] = None
        paths[ctx.bin_dir.path + "/" + ctx.label.workspace_root] = None
    imports = depset(transitive = [dep[PyInfo].imports for dep in deps])
    for path in imports.to_list():
        repository, _, rest = path.partition("/")
        source = rest if repository == main else "external/" + path
        paths[source or "."] = None
        paths[ctx.bin_dir.path + "/" + source] = None
    return paths.keys()
