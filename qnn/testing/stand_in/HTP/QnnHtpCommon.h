// A stand-in for a header of Qualcomm's SDK: see README.md.
#pragma once

#define QNN_HTP_API_VERSION_INIT {{2, 0, 0}, {5, 0, 0}}
