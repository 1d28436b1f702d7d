// The number of programs of a launch, from the expressions in the launch record.
#ifndef HEADRACE_LAUNCH_GRID_HPP
#define HEADRACE_LAUNCH_GRID_HPP

#include "headrace/launch/arguments.hpp"

#include <limits>

namespace headrace {

namespace detail {

inline std::int64_t ceilDiv(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0); }
inline std::int64_t floorDiv(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

/// Value of an expression of the launch record, see "Expressions" in docs/launch-record.md.
inline std::int64_t evaluate(const Json &expression, const Arguments &args) {
  if (expression.is_number_integer())
    return expression.get<std::int64_t>();
  const std::string op = expression.at(0).get<std::string>();
  if (op == "dim")
    return arrayOf(args, expression.at(1).get<std::size_t>()).shape.at(expression.at(2).get<std::size_t>());
  if (op == "scalar")
    return std::get<std::int64_t>(args.at(expression.at(1).get<std::size_t>()).value);
  std::int64_t a = evaluate(expression.at(1), args), b = evaluate(expression.at(2), args);
  if ((op == "ceildiv" || op == "floordiv" || op == "mod") && b < 1)
    fail("launch grid: expected a divisor of at least 1 in ", op, ", got ", b);
  if (op == "add")
    return a + b;
  if (op == "sub")
    return a - b;
  if (op == "mul")
    return a * b;
  if (op == "ceildiv")
    return ceilDiv(a, b);
  if (op == "floordiv")
    return floorDiv(a, b);
  if (op == "mod")
    return a - floorDiv(a, b) * b;
  if (op == "min")
    return std::min(a, b);
  if (op == "max")
    return std::max(a, b);
  fail("launch grid: expected an operator, got ", op);
}

/// The fewest programs that need no more rounds over `tiles` than `resident` programs would, or than `trips` if that is
/// less, in clusters of `width`.
inline std::int64_t persistentPrograms(std::int64_t tiles, std::int64_t resident, std::int64_t width,
                                       std::int64_t trips) {
  std::int64_t limit = std::max<std::int64_t>(resident / width, 1);
  std::int64_t rounds = std::min(ceilDiv(tiles, limit * width), trips);
  return ceilDiv(tiles, rounds * width) * width;
}

inline Grid gridOf(const Json &record, const Arguments &args, std::int64_t processors) {
  const Json &grid = record.at("grid");
  Grid programs = {evaluate(grid.at("x"), args), evaluate(grid.at("y"), args), evaluate(grid.at("z"), args)};
  if (grid.at("persistent").get<bool>() && programs[0] > 0)
    programs[0] = persistentPrograms(programs[0], processors * record.at("min_ctas_per_sm").get<std::int64_t>(),
                                     record.at("cluster")[0].get<std::int64_t>(),
                                     grid.value("trips", std::numeric_limits<std::int64_t>::max()));
  return programs;
}

inline void checkGrid(const Json &record, const Grid &programs) {
  constexpr std::int64_t limits[] = {(std::int64_t(1) << 31) - 1, 65535, 65535};
  const std::string kernel = record.at("kernel").get<std::string>();
  for (int axis = 0; axis < 3; ++axis) {
    if (programs[axis] < 0 || programs[axis] > limits[axis])
      fail("kernel '", kernel, "': expected 0 to ", limits[axis], " programs along ", "xyz"[axis], ", got ",
           programs[axis]);
    std::int64_t width = record.at("cluster")[axis].get<std::int64_t>();
    if (programs[axis] % width)
      fail("kernel '", kernel, "': expected a multiple of ", width, " programs along ", "xyz"[axis], ", got ",
           programs[axis], ", because of its cluster");
  }
}

} // namespace detail

} // namespace headrace

#endif // HEADRACE_LAUNCH_GRID_HPP
