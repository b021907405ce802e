#include "mpi/collect/prepared_program.h"

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "mpi/collect/context.h"
#include "mpi/collect/node_team.h"
#include "mpi/collect/prepared.h"
#include "mpi/collect/programs.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Plan;
using core::schedule::Program;

Program among_leaders(Context& context, const Shape& shape) {
  const NodeTeam& team = *context.node_team();
  const std::int32_t node = context.node_of()[static_cast<std::size_t>(context.rank())];
  Program program = core::schedule::make(shape.request, {shape.algorithms.front(), 0}, node);
  for (core::schedule::Step& step : program.steps) {
    if (step.peer >= 0) step.peer = team.leader(step.peer, shape.leading);
  }
  return program;
}

Program make_program(Context& context, const Shape& shape) {
  if (shape.leading >= 0) return among_leaders(context, shape);
  const Plan plan{shape.form, {shape.algorithms.begin(), shape.algorithms.end()}, shape.segment};
  return transform(shape.request, context.hierarchy(shape.groups), plan, context.rank());
}

}  // namespace

std::shared_ptr<const Prepared> prepared_program(Context& context, const Shape& shape) {
  if (auto known = context.programs().find(shape)) return known;
  auto made = std::make_shared<const Prepared>(make_program(context, shape));
  context.programs().keep(shape, made);
  return made;
}

}  // namespace ranktree::mpi::collect
