// A stand-in for a header of Qualcomm's SDK: see README.md.
#pragma once

#define QNN_SDK_BUILD_ID "stand-in"
