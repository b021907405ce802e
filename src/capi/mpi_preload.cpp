// What the preload library that serves collectives calls.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi/agree.h"
#include "mpi/collect/call.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/preload_abi.h"
#include "mpi/collect/process.h"
#include "mpi/collect/requests/own_request.h"
#include "mpi/collect/select/log.h"
#include "mpi/collect/thread_state.h"

namespace ranktree::mpi::collect {
namespace {

ProgressThread* start_thread(bool crowded) noexcept {
  ProgressThread* started = nullptr;
  [[maybe_unused]] const Failure none = attempt([&] {
    const std::shared_ptr<Process> process = Process::here();
    process->thread = std::make_unique<ProgressThread>();
    if (process->thread->start(crowded)) started = process->thread.get();
  });
  return started;
}

bool free_request(ProgressThread* thread, MPI_Request* request) noexcept {
  if (!thread->free_later(*request)) return false;
  *request = MPI_REQUEST_NULL;
  return true;
}

void finish_requests(ProgressThread* thread, int count, const MPI_Request* requests) noexcept {
  if (count > 0 && requests != nullptr) thread->finish({requests, static_cast<std::size_t>(count)});
}

void log(const char* text) noexcept {
  [[maybe_unused]] const Failure lost = attempt([text] { Log(Process::here()->environment.log, 0).line(text); });
}

void fill_in(PreloadFunctions& functions) {
  functions.start_account = [](double agreement) noexcept {
    [[maybe_unused]] const Failure later = attempt([&] { Process::here()->account.keep_agreement(agreement); });
  };
  functions.thread_state = []() noexcept { return &thread_state(); };
  functions.table = [](const Operation* operation, std::uint32_t first_served, ThreadState* thread) noexcept {
    return table_for_program(*operation, first_served, *thread);
  };
  functions.serve = [](CallTable* table, const Operation* operation, const Kind* kind) noexcept {
    return serve(*table, *operation, *kind);
  };
  functions.take_back_waiting = [](Waiting* waiting, const Operation* operation, std::uint32_t weight) noexcept {
    take_back_waiting(*waiting, *operation, weight);
  };
  functions.take_back_wrong = [](CallTable* table, const Operation* operation, const Kind* kind) noexcept {
    take_back_wrong(*table, *operation, *kind);
  };
  functions.start_thread = start_thread;
  functions.stop_thread = [](ProgressThread* thread) noexcept { thread->stop(); };
  functions.find = [](MPI_Comm comm, ThreadState* thread) noexcept { return find_table(comm, *thread); };
  functions.prepare = [](MPI_Comm comm, ThreadState* thread) noexcept { prepare_for_program(comm, *thread); };
  functions.begin = [](CallTable* table, const Operation* operation, const Kind* kind, MPI_Request* request,
                       int* code) noexcept {
    return begin_as_request(*table->context, *operation, *kind, request, *code);
  };
  functions.free = free_request;
  functions.finish = finish_requests;
  functions.log = log;
}

}  // namespace
}  // namespace ranktree::mpi::collect

bool ranktree_collect_handshake(ranktree::mpi::collect::PreloadFunctions* functions) noexcept {
  const ranktree::mpi::collect::PreloadFunctions own;
  const bool fits = functions->size == own.size && functions->version == own.version && functions->layout == own.layout;
  if (fits) {
    ranktree::mpi::collect::fill_in(*functions);
  } else {
    functions->size = own.size;
    functions->version = own.version;
    functions->layout = own.layout;
  }
  return fits;
}
