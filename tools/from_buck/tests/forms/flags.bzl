load("@fbsource//tools/build_defs:build_mode_defs.bzl", "is_production_build")

def get_flags(extra = []):
    flags = ["-Wno-{}".format(name) for name in ["missing-prototypes"] + extra]
    if is_production_build():
        flags.append("-O3")
    return flags
