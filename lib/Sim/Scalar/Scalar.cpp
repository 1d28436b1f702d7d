// All instructions of scalar code.
#include "Families.h"

void headrace::sim::addScalarInstructions(Registry &registry) {
  addArithmetic(registry);
  addCarryArithmetic(registry);
  addSigns(registry);
  addMinMax(registry);
  addFloatFunctions(registry);
  addLogic(registry);
  addBitFields(registry);
  addComparisons(registry);
  addMoves(registry);
  addConversions(registry);
  addAddresses(registry);
  addMemory(registry);
  addCacheHints(registry);
  addAtomics(registry);
  addControl(registry);
  addCalls(registry);
  addWarpExchange(registry);
}
