"""Installs npm's packages into a repository. Nothing is installed on the machine."""

def install_npm_packages(rctx, package, error):
    """Installs the packages of a lock file, as `node_modules`. Scripts of packages do not run.

    Args:
      rctx: the repository rule's context.
      package: str, the package of `package.json` and `package-lock.json`.
      error: the error message, with `{found}` for the reason.
    """
    npm = rctx.which("npm")
    if not npm:
        fail(error.format(found = "npm is not on the PATH"))
    for file in ["package.json", "package-lock.json"]:
        rctx.symlink(rctx.path(Label(package + ":" + file)), file)
    result = rctx.execute([npm, "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"], timeout = 600)
    if result.return_code != 0:
        fail(error.format(found = result.stderr or result.stdout))
