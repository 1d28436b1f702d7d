// The opcode families of this folder, by what they do; each function adds some to the registry.
#ifndef HEADRACE_SIM_SCALAR_FAMILIES_H
#define HEADRACE_SIM_SCALAR_FAMILIES_H

#include "headrace/Sim/Instructions/Decoder.h"

namespace headrace::sim {

void addArithmetic(Registry &registry);      // add, sub, mul, mad, fma, div, rem, sad, mul24, mad24, dp4a, dp2a
void addCarryArithmetic(Registry &registry); // addc, subc, madc
void addSigns(Registry &registry);           // abs, neg, copysign, testp
void addMinMax(Registry &registry);          // min, max
void addFloatFunctions(Registry &registry);  // rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh
void addLogic(Registry &registry);           // and, or, xor, not, cnot, lop3, shl, shr, shf, prmt
void addBitFields(Registry &registry);       // bfe, bfi, bfind, brev, popc, clz, fns, szext, bmsk
void addComparisons(Registry &registry);     // setp, set
void addMoves(Registry &registry);           // mov, selp, slct
void addConversions(Registry &registry);     // cvt
void addAddresses(Registry &registry);       // cvta, isspacep, mapa, getctarank
void addMemory(Registry &registry);          // ld, ldu, st
void addCacheHints(Registry &registry);      // prefetch, prefetchu, discard, applypriority, createpolicy
void addAtomics(Registry &registry);         // atom, red
void addControl(Registry &registry);         // bra, brx, ret, exit, trap
void addCalls(Registry &registry);           // call, of the functions that CUDA has on the device
void addWarpExchange(Registry &registry);    // shfl, vote, match, redux, activemask

// add, sub, mul, mad and div are families of integers and of numbers; these are the second.
Evaluator decodeFloatAdd(Decoder &decode);
Evaluator decodeFloatSub(Decoder &decode);
Evaluator decodeFloatMul(Decoder &decode);
Evaluator decodeFloatFma(Decoder &decode);
Evaluator decodeFloatDiv(Decoder &decode);
/// add.cc, sub.cc, mad.cc, and addc, subc, madc.
Evaluator decodeCarry(Decoder &decode);
/// cvt where a type is packed, and to tf32.
Evaluator decodePackedConversion(Decoder &decode);
/// cvt.pack.
Evaluator decodeIntegerPack(Decoder &decode);

} // namespace headrace::sim

#endif
