// A stand-in for a header of Qualcomm's SDK: see README.md.
#pragma once

#define QNN_CPU_API_VERSION_INIT {{2, 0, 0}, {1, 1, 0}}
