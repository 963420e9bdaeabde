"""Rule configured_platform, and functions that compare platforms."""

visibility(["//rules/..."])

ConfiguredPlatformInfo = provider(
    doc = "The platform of a target's configuration.",
    fields = {
        "cpu": "str: the name of the processor; empty if the platform does not say.",
        "os": "str: the name of the operating system; empty if the platform does not say.",
    },
)

def _configured_platform_impl(ctx):
    return [ConfiguredPlatformInfo(cpu = ctx.attr.cpu, os = ctx.attr.os)]

configured_platform = rule(
    doc = "The platform of the target's own configuration. For a dependency with `cfg = config.exec()`, this is an exec platform.",
    implementation = _configured_platform_impl,
    attrs = {
        "cpu": attr.string(doc = "A `select()` over processors."),
        "os": attr.string(doc = "A `select()` over operating systems."),
    },
    provides = [ConfiguredPlatformInfo],
)

def describe(platform):
    """Describes a platform, for messages.

    Args:
      platform: ConfiguredPlatformInfo.
    Returns:
      str: e.g. linux on x86_64.
    """
    return "{} on {}".format(platform.os or "an unknown system", platform.cpu or "an unknown processor")
