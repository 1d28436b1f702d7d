// The `.approx` functions of PTX ISA 9.7.3 and 9.7.4.
//
// The ISA bounds their errors and tables their special values, but what the hardware returns within the bounds is not
// documented. Here they return the true value rounded once, which is within every bound: a program that is right with
// these may still differ from the hardware in the last bits, so results are to be compared with a tolerance. Two things
// that the ISA does say of inexact results are kept: div.approx of a divisor beyond 2^126, and the low 32 bits of the
// f64 forms.
#ifndef HEADRACE_SIM_NUMERICS_APPROXIMATION_H
#define HEADRACE_SIM_NUMERICS_APPROXIMATION_H

#include <cmath>

namespace headrace::sim {

// In double, of an operand that is exact in float, so that one rounding to the type of the instruction remains.
inline double exp2Of(double a) { return std::exp2(a); }
inline double tanhOf(double a) { return std::tanh(a); }
inline double log2Of(double a) { return std::log2(a); } // of zero -Inf, of negative numbers NaN
inline double sinOf(double a) { return std::sin(a); }   // of infinities NaN
inline double cosOf(double a) { return std::cos(a); }   // of infinities NaN
inline double reciprocalOf(double a) { return 1 / a; }
inline double sqrtOf(double a) { return std::sqrt(a); }                       // of -0 -0, of negative numbers NaN
inline double rsqrtOf(double a) { return a == 0 ? 1 / a : 1 / std::sqrt(a); } // of -0 -Inf

/// div.approx.f32 (9.7.3.8): a / b, but for 2^126 < |b| < 2^128 zero, or NaN of an infinite `a`.
float divideApprox(float a, float b);

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 (9.7.3.14, 9.7.3.17): of the high 32 bits, to the high 32 bits.
double reciprocalHigh(double a);
double rsqrtHigh(double a);

} // namespace headrace::sim

#endif
