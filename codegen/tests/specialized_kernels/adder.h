// Runs the methods of model.py.

#pragma once

#include <executorch/extension/module/module.h>

#include <string>

// The first byte of what a loaded method computes: which kernel of kernels.cpp it called.
int mark_of(executorch::extension::Module& program, const std::string& method);
