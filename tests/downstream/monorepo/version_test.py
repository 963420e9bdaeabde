"""Runs under the monorepo's Python, and not under that of the packages."""

import platform

print("Python", platform.python_version())
