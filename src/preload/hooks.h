// What the generated wrappers call: one function a kind of call. Buffers are passed as the standard's arguments of one
// side, counts of either width (int, MPI_Count) behind one type.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "core/pattern/pattern.h"
#include "preload/call.h"
#include "preload_has.h"

namespace ranktree::preload {

struct Receipt;
struct Thread;

struct Buffer {
  [[nodiscard]] std::uint64_t bytes(Thread& thread) const;

  const void* address;
  MPI_Count count;
  MPI_Datatype type;
};

// An array of counts as the caller gave it.
class Counts {
 public:
  Counts(const int* counts) : narrow_(counts) {}      // NOLINT(google-explicit-constructor): an argument of MPI's
  Counts(const MPI_Count* counts) : wide_(counts) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] MPI_Count operator[](int i) const noexcept { return wide_ != nullptr ? wide_[i] : narrow_[i]; }

 private:
  const int* narrow_ = nullptr;
  const MPI_Count* wide_ = nullptr;
};

// A buffer with a count, and perhaps a type, for each peer.
struct BufferList {
  BufferList(const void* start, Counts each, MPI_Datatype same) : address(start), counts(each), type(same) {}
  BufferList(const void* start, Counts each, const MPI_Datatype* list) : address(start), counts(each), types(list) {}
  [[nodiscard]] std::uint64_t bytes(Thread& thread, int i) const;

  const void* address;
  Counts counts;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Datatype* types = nullptr;
};

struct Target {
  int rank;
  MPI_Win win;
};

// Where a describing function puts what its call moves.
struct Scene {
  Thread& thread;
  Receipt& receipt;
};

// Refers to a function that describes a call into a scene. It is only used while that function lives.
class Description {
 public:
  template <typename Function>
  Description(const Function& function) noexcept  // NOLINT(google-explicit-constructor): an argument of the wrappers
      : function_(&function),
        run_([](const void* object, const Scene& scene) { (*static_cast<const Function*>(object))(scene); }) {}
  void operator()(const Scene& scene) const { run_(function_, scene); }

 private:
  const void* function_;
  void (*run_)(const void* object, const Scene& scene);
};

// Point-to-point requests that are started later.
using core::pattern::SendCall;
void send_init(const Scene& scene, SendCall call, Buffer buffer, int dest, MPI_Comm comm);

// Collectives left to a model.
void barrier(const Scene& scene, MPI_Comm comm);
void bcast(const Scene& scene, Buffer buffer, int root, MPI_Comm comm);
void reduce(const Scene& scene, Buffer buffer, int root, MPI_Comm comm);
void allreduce(const Scene& scene, Buffer buffer, MPI_Comm comm);
void scan(const Scene& scene, Buffer buffer, MPI_Comm comm);
void exscan(const Scene& scene, Buffer buffer, MPI_Comm comm);
void gather(const Scene& scene, Buffer send, Buffer receive, int root, MPI_Comm comm);
void scatter(const Scene& scene, Buffer send, Buffer receive, int root, MPI_Comm comm);
void allgather(const Scene& scene, Buffer send, Buffer receive, MPI_Comm comm);
void allgatherv(const Scene& scene, Buffer send, BufferList receive, MPI_Comm comm);
void alltoall(const Scene& scene, Buffer send, Buffer receive, MPI_Comm comm);
void reduce_scatter(const Scene& scene, Counts counts, MPI_Datatype type, MPI_Comm comm);
void reduce_scatter_block(const Scene& scene, Buffer buffer, MPI_Comm comm);

// Collectives whose pairs the arguments define. A rank's own share is a copy, not a message.
void gatherv(const Scene& scene, Buffer send, int root, MPI_Comm comm);
void scatterv(const Scene& scene, Buffer receive, int root, MPI_Comm comm);
void alltoallv(const Scene& scene, BufferList send, BufferList receive, MPI_Comm comm);

// Neighbourhood collectives: one message for each destination of the topology, MPI_PROC_NULL left out.
void neighbor_same(const Scene& scene, Buffer send, MPI_Comm comm);
void neighbor_each(const Scene& scene, BufferList send, MPI_Comm comm);

// One-sided calls.
void put(const Scene& scene, Buffer origin, int target, MPI_Win win);
void get(const Scene& scene, Buffer result, int target, MPI_Win win);
void get_and_put(const Scene& scene, MPI_Op op, Buffer origin, Buffer result, const Target& target);

// Counts what `scene.receipt` holds.
void count_receipt(Thread& thread, const char* call, const Receipt& receipt);

// Persistent requests, by handle, until MPI_Request_free.
void keep_request(const char* call, MPI_Request request, const Receipt& receipt);
void start_request(MPI_Request request) noexcept;
void free_request(MPI_Request request) noexcept;

// A call that moves data in a way that is not attributed.
void count_unattributed(const char* call) noexcept;

// Describes a call and counts it.
void record(const char* call, Description describe) noexcept;

// Describes a call that made a persistent request and keeps the description with it.
void keep(const char* call, MPI_Request request, Description describe) noexcept;

// MPI_Type_free: the handle may come back for another type.
void forget_types() noexcept;

// MPI is set up, or a session is; a session ends.
void start_recording() noexcept;
#if RANKTREE_HAS_MPI_Session_init
void start_recording(MPI_Session session) noexcept;
void end_recording(MPI_Session session) noexcept;
#endif

}  // namespace ranktree::preload
