"""Memory before a page without access: a kernel that reads past the end of its inputs crashes."""

import ctypes
import mmap

import torch

_BYTES = 1 << 18
_NO_ACCESS = 0  # PROT_NONE


class GuardedMemory:
    """Memory for the inputs of one call at a time. Each input ends at a page without access.

    Attributes:
      slots: the number of inputs that have memory.
    """

    slots = 16

    def __init__(self) -> None:
        stride = _BYTES + mmap.PAGESIZE
        self._memory = mmap.mmap(-1, self.slots * stride)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._ends = [start + slot * stride + _BYTES for slot in range(self.slots)]
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for end in self._ends:
            if protect(end, mmap.PAGESIZE, _NO_ACCESS) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")
        self._next = 0

    def place(self, tensor: torch.Tensor) -> int:
        """The address of a copy of the tensor's memory, or of the tensor's memory if it is large."""
        size = tensor.numel() * tensor.element_size()
        if size > _BYTES:
            return tensor.data_ptr()
        address = self._ends[self._next] - size
        self._next = (self._next + 1) % self.slots
        ctypes.memmove(address, tensor.data_ptr(), size)
        return address
