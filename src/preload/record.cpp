// What a wrapper describes, counted at once or kept with its request.
#include <mpi.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/pattern/pattern.h"
#include "io/trace_layout.h"
#include "preload/communicator.h"
#include "preload/hooks.h"
#include "preload/message.h"
#include "preload/process.h"
#include "preload/receipt.h"
#include "preload/thread.h"

namespace ranktree::preload {
namespace {

// Fills this thread's receipt; nullptr when nothing is recorded.
Thread* described(Description describe) {
  Thread* thread = entered();
  if (thread == nullptr) return nullptr;
  thread->receipt.clear();
  describe(Scene{*thread, thread->receipt});
  return thread;
}

// By its name: that of a nonblocking call begins with MPI_I.
bool blocks(const char* call) { return call[std::string_view("MPI_").size()] != 'I'; }

}  // namespace

std::uint64_t Buffer::bytes(Thread& thread) const {
  return count <= 0 ? 0 : static_cast<std::uint64_t>(count) * type_bytes(thread, type);
}

std::uint64_t BufferList::bytes(Thread& thread, int i) const {
  return Buffer{address, counts[i], types != nullptr ? types[i] : type}.bytes(thread);
}

void record(const char* call, Description describe) noexcept {
  shielded([&] {
    Thread* thread = described(describe);
    if (thread == nullptr) return;
    if (thread->receipt.synchronises && blocks(call)) {
      thread->part.cut(static_cast<core::pattern::Operation>(layout::key_operation(thread->receipt.call)));
    }
    count_receipt(*thread, call, thread->receipt);
  });
}

void keep(const char* call, MPI_Request request, Description describe) noexcept {
  shielded([&] {
    if (const Thread* thread = described(describe)) keep_request(call, request, thread->receipt);
  });
}

void count_receipt(Thread& thread, const char* call, const Receipt& receipt) {
  for (const Flow& flow : receipt.flows) {
    layout::PairCell* cell = thread.pair(flow.key);
    if (cell == nullptr) return;
    cell->messages += flow.messages;
    cell->bytes += flow.bytes;
  }
  if (receipt.send && !receipt.flows.empty()) {
    layout::SendCell* sends = thread.sends(*receipt.send, receipt.communicator);
    if (sends == nullptr) return;
    for (const Flow& flow : receipt.flows) add_size(*sends, flow.bytes);
  }
  if (receipt.call != 0) {
    layout::CallCell* cell = thread.part.call(receipt.call, receipt.communicator);
    if (cell == nullptr) return;
    cell->calls += 1;
    cell->bytes += receipt.call_bytes;
  }
  if (receipt.outside > 0) {
    thread.part.count_unattributed(std::string(call) + " outside MPI_COMM_WORLD", receipt.outside);
  }
}

void count_unattributed(const char* call) noexcept {
  shielded([&] {
    Thread* thread = entered();
    if (thread != nullptr) thread->part.count_unattributed(call, 1);
  });
}

void start_recording() noexcept { Process::instance().start(); }

#if RANKTREE_HAS_MPI_Session_init
void start_recording(MPI_Session session) noexcept { Process::instance().start_session(session); }

void end_recording(MPI_Session session) noexcept { Process::instance().end_session(session); }
#endif

}  // namespace ranktree::preload
