"""Extracts Debian's packages into a repository. Nothing is installed on the machine."""

_STATUS = "/var/lib/dpkg/status"
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

def _status_without(rctx, parts):
    """Returns dpkg's status of installed packages, without packages whose names contain one of the parts."""
    packages = [
        package
        for package in rctx.read(_STATUS).split("\n\n")
        if not [part for part in parts if part in package.partition("\n")[0]]
    ]
    rctx.file("apt/status", "\n\n".join(packages))
    return rctx.path("apt/status")

def _suite_options(rctx, apt, suite, error):
    """Returns options with which apt-get reads only a suite of the machine's mirror, as on a machine without packages."""
    listing = rctx.execute([apt, "indextargets", "--no-release-info", "--format", "$(REPO_URI)", "Created-By: Packages"])
    mirrors = [uri.rstrip("/") for uri in listing.stdout.split("\n") if uri.rstrip("/").endswith("/debian")]
    if not mirrors:
        fail(error.format(found = "apt has no mirror of Debian"))
    rctx.file("apt/status", "")
    rctx.file("apt/sources.list", "deb [signed-by={}] {} {} main\n".format(_KEYRING, mirrors[0], suite))
    settings = {
        "APT::Sandbox::User": "root",
        "Acquire::Check-Valid-Until": "false",
        "Dir::Etc::preferences": "/dev/null",
        "Dir::Etc::preferencesparts": "/dev/null",
        "Dir::Etc::sourcelist": rctx.path("apt/sources.list"),
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::status": rctx.path("apt/status"),
    }
    return [option for name, value in settings.items() for option in ["-o", "{}={}".format(name, value)]]

def extract_debian_packages(rctx, names, error, with_dependencies = False, taken_anyway = [], suite = None):
    """Downloads packages with apt-get, and extracts them into the repository.

    Args:
      rctx: the repository rule's context.
      names: list[str], the packages.
      error: the error message, with `{found}` for the reason.
      with_dependencies: whether to also take dependencies of the packages that the machine lacks.
      taken_anyway: list[str], parts of names of dependencies that are taken even if the machine has them.
      suite: str, the codename of a Debian suite. Default: the machine's suite. With dependencies, another suite than the machine's
        also adds its C library.
    """
    apt = rctx.which("apt-get")
    dpkg = rctx.which("dpkg-deb")
    if not apt or not dpkg:
        fail(error.format(found = "there is no apt-get"))

    # The repository has its own package lists, since the machine's lists may be missing or old.
    for folder in ["apt/lists/partial", "apt/cache/archives/partial"]:
        rctx.execute(["mkdir", "-p", folder])
    options = ["-q", "-o", "Dir::State::lists={}/lists".format(rctx.path("apt")), "-o", "Dir::Cache={}/cache".format(rctx.path("apt"))]
    if suite:
        options += _suite_options(rctx, apt, suite, error)
    elif taken_anyway:
        options += ["-o", "Dir::State::status={}".format(_status_without(rctx, taken_anyway))]
    archives = rctx.path("apt/cache/archives")
    install = ["-y", "-o", "Debug::NoLocking=1", "--download-only", "--no-install-recommends", "install"]
    for command in [["update"], (install if with_dependencies else ["download"]) + names]:
        result = rctx.execute([apt] + options + command, timeout = 600, working_directory = str(archives))
        if result.return_code != 0:
            fail(error.format(found = result.stderr or result.stdout))
    for package in archives.readdir():
        if package.basename.endswith(".deb"):
            result = rctx.execute([dpkg, "--extract", package, "."])
            if result.return_code != 0:
                fail(error.format(found = result.stderr))
    rctx.delete("apt")
