"""Rule configured_platform, and which of two platforms a library is for."""

visibility(["//rules/..."])

ConfiguredPlatformInfo = provider(
    doc = "The platform that a target is built for.",
    fields = {
        "cpu": "str: the name of the processor; empty if the platform does not say.",
        "os": "str: the name of the operating system; empty if the platform does not say.",
    },
)

def _configured_platform_impl(ctx):
    return [ConfiguredPlatformInfo(cpu = ctx.attr.cpu, os = ctx.attr.os)]

configured_platform = rule(
    doc = "The platform that the target itself is built for: an exec platform, where a dependency has `cfg = config.exec()`.",
    implementation = _configured_platform_impl,
    attrs = {
        "cpu": attr.string(doc = "A `select()` over processors."),
        "os": attr.string(doc = "A `select()` over operating systems."),
    },
    provides = [ConfiguredPlatformInfo],
)

def describe(platform):
    """A platform, for messages.

    Args:
      platform: ConfiguredPlatformInfo.
    Returns:
      str: e.g. linux on x86_64.
    """
    return "{} on {}".format(platform.os or "an unknown system", platform.cpu or "an unknown processor")
