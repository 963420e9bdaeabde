"""Imports PyTorch, which is installed for one version of Python."""

import doubled_op
import torch

assert doubled_op.doubled(torch.ones(2)).tolist() == [2, 2]
