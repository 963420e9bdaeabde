"""Debian's packages in a repository; nothing is installed on the machine."""

def extract_debian_package(rctx, name, error, with_dependencies = False):
    """Downloads a package with apt-get, and extracts it into the repository.

    Args:
      rctx: the repository rule's context.
      name: the package.
      error: the message where this fails, with `{found}` for the reason.
      with_dependencies: whether to take what the package depends on and the machine lacks, too.
    """
    apt = rctx.which("apt-get")
    dpkg = rctx.which("dpkg-deb")
    if not apt or not dpkg:
        fail(error.format(found = "there is no apt-get"))

    # Lists of packages of its own: those of the machine may be missing or old.
    for folder in ["apt/lists/partial", "apt/cache/archives/partial"]:
        rctx.execute(["mkdir", "-p", folder])
    options = ["-q", "-o", "Dir::State::lists={}/lists".format(rctx.path("apt")), "-o", "Dir::Cache={}/cache".format(rctx.path("apt"))]
    archives = rctx.path("apt/cache/archives")
    install = ["-y", "-o", "Debug::NoLocking=1", "--download-only", "--no-install-recommends", "install"]
    for command in [["update"], (install if with_dependencies else ["download"]) + [name]]:
        result = rctx.execute([apt] + options + command, timeout = 600, working_directory = str(archives))
        if result.return_code != 0:
            fail(error.format(found = result.stderr or result.stdout))
    for package in archives.readdir():
        if package.basename.endswith(".deb"):
            result = rctx.execute([dpkg, "--extract", package, "."])
            if result.return_code != 0:
                fail(error.format(found = result.stderr))
    rctx.delete("apt")
