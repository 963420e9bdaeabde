"""Prints what python_program_test asks for."""

import os
import sys

from absl import logging

print(sys.executable)
print(sys.argv[1:])
print(logging.INFO)
print(os.path.dirname(__file__) in sys.path)
