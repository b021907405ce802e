// A part of a call that is handed over to be run there and then.
#pragma once

namespace ranktree::mpi {

// Refers to a function object that outlives it. Unlike std::function it allocates nothing: an allocation that fails on
// one rank, before all have met, would leave the others waiting.
class LocalStep {
 public:
  template <typename Function>
  LocalStep(const Function& function) noexcept  // NOLINT(google-explicit-constructor): a lambda is passed as it is
      : function_(&function), call_([](const void* object) { (*static_cast<const Function*>(object))(); }) {}
  void operator()() const { call_(function_); }

 private:
  const void* function_;
  void (*call_)(const void*);
};

}  // namespace ranktree::mpi
