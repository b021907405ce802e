#include "programs/bench/keep.h"

#include <mpi.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/predict/choice.h"
#include "core/predict/parameters.h"
#include "core/schedule/makers.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/process.h"
#include "mpi/collect/select/learned.h"
#include "mpi/collect/select/links.h"
#include "mpi/collect/settings.h"
#include "mpi/collect/thread_state.h"
#include "programs/bench/trial_case.h"

namespace ranktree::mpi::bench {

Decided read_decided(const std::string& text) {
  const std::size_t first = text.find(',');
  const std::size_t second = first == std::string::npos ? first : text.find(',', first + 1);
  if (second != std::string::npos) {
    const auto collective = core::schedule::collective_from_name(text.substr(0, first));
    std::int64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data() + first + 1, text.data() + second, bytes);
    if (collective && error == std::errc() && end == text.data() + second && bytes >= 0) {
      return {*collective, bytes, core::predict::choice_from_text(text.substr(second + 1), *collective)};
    }
  }
  throw core::Error(core::Fault::kInput, "--keep: expected COLLECTIVE,BYTES,VARIANT, found '" + text + "'");
}

// The context is as deep as that of a program that `auto` serves: its shape is the same.
void keep(const std::vector<Decided>& decisions) {
  const std::shared_ptr<collect::Context> context =
      collect::Context::of(MPI_COMM_WORLD, collect::Context::Depth::kNodes);
  collect::Process& process = context->process();
  const collect::Settings settings = collect::agreed_settings(MPI_COMM_WORLD, process.environment, {});
  core::predict::Parameters parameters = collect::parameters_for(*context, settings);
  if (!settings.parameters && context->node_count() > 1) {
    collect::measure_links(parameters, *context);
  }
  if (context->rank() != 0) return;
  const std::string shape = collect::shape_of(*context);
  for (const Decided& each : decisions) {
    const TrialCase trial(each.collective, each.bytes, 0, MPI_COMM_WORLD);
    const collect::Kind kind = collect::kind_of(trial.operation(), 0, collect::thread_state().types);
    process.learned.keep(shape, collect::decision_key(*context, kind, parameters), to_text(each.choice));
  }
  process.learned.write();
}

}  // namespace ranktree::mpi::bench
