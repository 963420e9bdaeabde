// A stand-in for a header of Qualcomm's SDK: see README.md. What it would bring is in simple_reg.h.
#pragma once

#include "HTP/core/simple_reg.h"
