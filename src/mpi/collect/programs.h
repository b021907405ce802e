// The programs of one communicator that were made lately.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "core/schedule/makers.h"
#include "core/schedule/transform.h"
#include "mpi/collect/prepared.h"

namespace ranktree::mpi::collect {

class Context;

// What a program is made from.
struct Shape {
  core::schedule::Request request;
  core::schedule::Plan plan;        // segments in elements
  core::schedule::Rank groups = 0;  // as in predict::Choice
};

// The program of the calling rank. Throws core::Error where there is none, std::bad_alloc.
core::schedule::Program make_program(const Context& context, const Shape& shape);

// Keeps the last ones used, a few and of little memory. Safe for threads, though one communicator's operations begin
// one after the other.
class Programs {
 public:
  // Made where it is not kept. Throws as make_program() does.
  std::shared_ptr<const Prepared> get(const Context& context, const Shape& shape);

 private:
  struct Entry {
    Shape shape;
    std::shared_ptr<const Prepared> prepared;
    std::size_t bytes = 0;
  };
  std::shared_ptr<const Prepared> find(const Shape& shape);
  void keep(Entry entry);

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used first
  std::size_t bytes_ = 0;
};

}  // namespace ranktree::mpi::collect
