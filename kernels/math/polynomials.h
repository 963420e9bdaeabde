#pragma once

// Written by `tools/bazel run //kernels/math/polynomials`. Do not edit.

/// Minimax polynomials, from the highest degree down.
namespace rules_executorch::kernels::math::internal {

/// e^r = 1 + r + r^2 p(r) for |r| <= log(2)/2.
inline constexpr float kExpPolynomial[] = {0x1.6a3d0ep-10f, 0x1.123856p-7f, 0x1.5558bep-5f, 0x1.555494p-3f,
                                           0x1.fffffcp-2f};

/// e^r = 1 + r p(r) for |r| <= log(2)/32.
inline constexpr float kShortExpPolynomial[] = {0x1.55559ap-3f, 0x1.00021ep-1f, 0x1p+0f};

/// 2^r = 1 + r p(r) for |r| <= 1/2.
inline constexpr float kExp2Polynomial[] = {0x1.416b5ep-13f, 0x1.5f082ep-10f, 0x1.3b2dep-7f,
                                            0x1.c6af7cp-5f,  0x1.ebfbdcp-3f,  0x1.62e43p-1f};

/// log(1 + f) = f - f^2/2 + f^3 p(f) for sqrt(1/2) <= 1 + f < sqrt(2).
inline constexpr float kLogPolynomial[] = {-0x1.38c8ap-4f,  0x1.055e4ep-3f, -0x1.0d8238p-3f, 0x1.22d938p-3f,
                                           -0x1.54728cp-3f, 0x1.99a01cp-3f, -0x1.000226p-2f, 0x1.555554p-2f};

/// atan(t) = t + t^3 p(t^2) for 0 <= t <= 1.
inline constexpr float kAtanPolynomial[] = {0x1.7eb194p-9f, -0x1.0c1c34p-6f, 0x1.61f154p-5f, -0x1.355198p-4f,
                                            0x1.b4deep-4f,  -0x1.230a96p-3f, 0x1.9978ecp-3f, -0x1.5554dcp-2f};

/// asin(s) = s + s^3 p(s^2) for 0 <= s <= 1/2.
inline constexpr float kAsinPolynomial[] = {0x1.595c96p-5f, 0x1.8c3e26p-6f, 0x1.747bbap-5f, 0x1.330204p-4f,
                                            0x1.5555c8p-3f};

/// sin(r) = r + r^3 p(r^2) for 0 <= r <= pi/4.
inline constexpr float kSinPolynomial[] = {-0x1.995408p-13f, 0x1.110778p-7f, -0x1.555546p-3f};

/// cos(r) = 1 - r^2/2 + r^4 p(r^2) for 0 <= r <= pi/4.
inline constexpr float kCosPolynomial[] = {0x1.99e80cp-16f, -0x1.6c0c28p-10f, 0x1.55554ap-5f};

/// tanh(x) = x + x^3 p(x^2) for 0 <= x <= 5/8.
inline constexpr float kTanhPolynomial[] = {-0x1.750ce4p-8f, 0x1.51f8cep-6f, -0x1.b835a4p-5f, 0x1.1106f6p-3f,
                                            -0x1.555532p-2f};

/// erf(x) = x + x p(x^2) for 0 <= x <= 0.9.
inline constexpr float kErfPolynomial[] = {-0x1.3d98d8p-11f, 0x1.47ffcap-8f,  -0x1.b6a862p-6f,
                                           0x1.ce1c1ep-4f,   -0x1.8126eep-2f, 0x1.06eba6p-3f};

/// log(1 - erf(x)) = p(x) for 0.9 <= x <= 4, with the least relative error of erf.
inline constexpr float kLogErfcPolynomial[] = {0x1.9fb3eep-13f, -0x1.91ccf8p-9f, 0x1.6d9c92p-6f,  -0x1.aa72ep-4f,
                                               -0x1.4621c6p-1f, -0x1.20b74ep+0f, -0x1.5d3248p-13f};

/// log2(erfc(x / sqrt(2))) = x p(x) for 0 <= x <= 7, with the least absolute error of erfc.
inline constexpr float kLog2TailsPolynomial[] = {-0x1.7d317cp-19f, 0x1.4ae66ep-15f, -0x1.873076p-13f, -0x1.1d4374p-13f,
                                                 0x1.ced358p-8f,   -0x1.ae0a88p-5f, -0x1.d63ac2p-2f,  -0x1.26aed4p+0f};

/// log2(m) = s p(s^2), with s = (m - 1) / (m + 1), for sqrt(1/2) <= m < sqrt(2).
inline constexpr double kPreciseLog2Polynomial[] = {0x1.5f0c4762689a8p-2, 0x1.a5693a7b48367p-2, 0x1.2777e68cb532p-1,
                                                    0x1.ec709c3bd9471p-1, 0x1.71547652dd431p+1};

/// 2^r = p(r) for |r| <= 1/2.
inline constexpr double kPreciseExp2Polynomial[] = {0x1.41d31fad4d91cp-13, 0x1.5f456c17994eap-10, 0x1.3b2dbbdd0882cp-7,
                                                    0x1.c6aed4b556907p-5,  0x1.ebfbdadc9f08ap-3,  0x1.62e430c7ede4ap-1,
                                                    0x1.0000000260ee8p+0};

/// 2^(i/16).
inline constexpr float kExp2Table[16] = {0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
                                         0x1.306fep+0f,  0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
                                         0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
                                         0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};

/// The center of interval i of the tables is i * kGeluInterval. The argument of a polynomial is |x|
/// minus the center. Each column has the coefficients of one interval. The last column is for all
/// larger |x|.
inline constexpr float kGeluInterval = 0x1.9p-2f;

/// The probability that a normal variable is larger than |x|.
inline constexpr float kGeluTails[6][16] = {
    {-0x1.39f5c4p-7f, -0x1.a29112p-8f, 0x1.40643p-11f, 0x1.69f8d6p-8f, 0x1.68da42p-8f, 0x1.51c616p-9f, -0x1.cd06d6p-15f,
     -0x1.219bcep-10f, -0x1.02d48cp-10f, -0x1.20d874p-11f, -0x1.dce2fp-13f, -0x1.34eb4cp-14f, -0x1.42c992p-16f,
     -0x1.1474fap-18f, -0x1.880b2ap-21f, 0},
    {-0x1.2213b8p-13f, -0x1.16cf78p-6f, -0x1.738178p-6f, -0x1.041f96p-6f, -0x1.1b7296p-8f, 0x1.f8da18p-9f,
     0x1.956d8p-8f, 0x1.3cc5d6p-8f, 0x1.5e2844p-9f, 0x1.2b793ep-10f, 0x1.9b5352p-12f, 0x1.ce96fep-14f, 0x1.aefde2p-16f,
     0x1.4f39e4p-18f, 0x1.b5aad8p-21f, 0},
    {0x1.106bbcp-4f, 0x1.aba4f8p-5f, 0x1.38e142p-6f, -0x1.993cc6p-7f, -0x1.cf36f8p-6f, -0x1.c736dep-6f, -0x1.39f8ecp-6f,
     -0x1.4fbca2p-7f, -0x1.2166dcp-8f, -0x1.9a29f2p-10f, -0x1.e36f22p-12f, -0x1.dd5656p-14f, -0x1.8cd61cp-16f,
     -0x1.16c6dep-18f, -0x1.4bdd9ep-21f, 0},
    {-0x1.1686f6p-20f, 0x1.27b55p-4f, 0x1.d66a56p-4f, 0x1.e1d936p-4f, 0x1.78a1e6p-4f, 0x1.d9ddf2p-5f, 0x1.eb5aa6p-6f,
     0x1.a93ac4p-7f, 0x1.3578acp-8f, 0x1.7ca69ap-10f, 0x1.8cf77ep-12f, 0x1.5fd3b4p-14f, 0x1.097772p-16f,
     0x1.5581fcp-19f, 0x1.76e70ap-22f, 0},
    {-0x1.988452p-2f, -0x1.7a824p-2f, -0x1.2d130ep-2f, -0x1.9b2e7ep-3f, -0x1.e21648p-4f, -0x1.e53b54p-5f,
     -0x1.a347cap-6f, -0x1.3705d2p-7f, -0x1.8c21fap-9f, -0x1.b121cp-11f, -0x1.96907p-13f, -0x1.479e0cp-15f,
     -0x1.c54654p-18f, -0x1.0d2f66p-20f, -0x1.1277fep-23f, 0},
    {0x1p-1f, 0x1.6463dep-2f, 0x1.bd1654p-3f, 0x1.ee130ap-4f, 0x1.e4067cp-5f, 0x1.a0315ap-6f, 0x1.38c94ap-7f,
     0x1.99979ep-9f, 0x1.d21afcp-11f, 0x1.cc082ep-13f, 0x1.892c52p-15f, 0x1.229f0ap-17f, 0x1.733326p-20f,
     0x1.994b12p-23f, 0x1.8552bp-26f, 0}};

/// PyTorch's approximation "tanh" of the same probability.
inline constexpr float kGeluTanhTails[6][16] = {
    {-0x1.411aa4p-7f, -0x1.b2eb7cp-8f, 0x1.056d92p-10f, 0x1.74f64ep-8f, 0x1.62296p-8f, 0x1.3b4d74p-9f, 0x1.3730aap-17f,
     -0x1.038e9ep-10f, -0x1.fc9398p-11f, -0x1.320972p-11f, -0x1.01bd5cp-12f, -0x1.34b918p-14f, -0x1.04babap-16f,
     -0x1.31d282p-19f, -0x1.e9562p-23f, 0},
    {-0x1.274038p-13f, -0x1.1a3644p-6f, -0x1.76225p-6f, -0x1.fd802p-7f, -0x1.0a81dcp-8f, 0x1.e44956p-9f, 0x1.845e0cp-8f,
     0x1.39e53ap-8f, 0x1.6a986p-9f, 0x1.3cce9ep-10f, 0x1.a28f9ep-12f, 0x1.9b49a2p-14f, 0x1.266458p-16f, 0x1.2c621ep-19f,
     0x1.ab5446p-23f, 0},
    {0x1.11c50ap-4f, 0x1.abead8p-5f, 0x1.31ebc8p-6f, -0x1.a1067p-7f, -0x1.c9c6ep-6f, -0x1.c04b3ep-6f, -0x1.3989b8p-6f,
     -0x1.5725dp-7f, -0x1.2badf6p-8f, -0x1.9e3542p-10f, -0x1.bc126p-12f, -0x1.6896bcp-14f, -0x1.b0dc6p-17f,
     -0x1.76fdc4p-20f, -0x1.c9f728p-24f, 0},
    {-0x1.180ff6p-20f, 0x1.28c16ep-4f, 0x1.d66a3cp-4f, 0x1.dff71ep-4f, 0x1.7706d6p-4f, 0x1.dadb3ap-5f, 0x1.f1e63ep-6f,
     0x1.b1552cp-7f, 0x1.358e28p-8f, 0x1.63dfc8p-10f, 0x1.4154a8p-12f, 0x1.bc34e2p-15f, 0x1.ca1dfcp-18f, 0x1.579c8p-21f,
     0x1.6d8ed4p-25f, 0},
    {-0x1.988452p-2f, -0x1.7a615ep-2f, -0x1.2cce64p-2f, -0x1.9b0b0cp-3f, -0x1.e35bdap-4f, -0x1.e8b3p-5f,
     -0x1.a65fb8p-6f, -0x1.344ac8p-7f, -0x1.753c04p-9f, -0x1.6e69bap-11f, -0x1.1c8e6cp-13f, -0x1.54c652p-16f,
     -0x1.32a68cp-19f, -0x1.942d3ap-23f, -0x1.7c464ep-27f, 0},
    {0x1p-1f, 0x1.64687ep-2f, 0x1.bd4accp-3f, 0x1.eecc1ap-4f, 0x1.e5116ap-5f, 0x1.9fb5d8p-6f, 0x1.33ab4ep-7f,
     0x1.82f478p-9f, 0x1.95510ep-11f, 0x1.599bd4p-13f, 0x1.d43a92p-16f, 0x1.eb6d54p-19f, 0x1.8588ccp-22f,
     0x1.c6a556p-26f, 0x1.7cd304p-30f, 0}};

}  // namespace rules_executorch::kernels::math::internal
