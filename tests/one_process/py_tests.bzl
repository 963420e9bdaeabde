"""Tests of several files in one process."""

load("@rules_python//python:defs.bzl", "py_test")

def py_tests(name, srcs, suffix = "_test", every = 1, shard_count = None, size = "large", tags = [], slow = False, sample = 1, **kwargs):
    """A test that runs several files of tests in one process, and a test of each file.

    An import of PyTorch takes longer than the tests of most files. The tests of single files are `manual`: `//...`
    omits them, and a name selects them.

    Args:
      name: name of the test of all files.
      srcs: the files, `*_test.py`, tests of absltest.
      suffix: what replaces `_test.py` in the names of the tests of single files.
      every: the test of all files runs one method in `every`.
      shard_count: the number of processes of the test of all files. `<name>_sample` runs in one process.
      size: size of the test of all files. Tests of single files are medium.
      tags: tags of all tests.
      slow: whether `//...` omits the test of all files, too. //:slow then has the test.
      sample: if above 1, `//...` runs one method in `sample`, as the test `<name>_sample`, and //:slow has the test of all methods.
      **kwargs: passed to py_test.
    """
    for src in srcs:
        py_test(
            name = src.removesuffix("_test.py") + suffix,
            size = "medium",
            srcs = [src],
            main = src,
            tags = tags + ["manual"],
            **kwargs
        )
    main = Label("//tests/one_process:main.py")
    tests = {name: every}
    if sample > 1:
        tests[name + "_sample"] = every * sample
    for test, methods in tests.items():
        is_slow = slow or methods < every * sample
        py_test(
            name = test,
            size = size,
            srcs = srcs + [main],
            args = ["--every={}".format(methods)] + ["$(rootpath {})".format(src) for src in srcs],
            main = main,
            shard_count = None if methods > every else shard_count,
            tags = tags + (["manual", "slow"] if is_slow else []),
            **kwargs
        )
