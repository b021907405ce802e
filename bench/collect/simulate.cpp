// Schedules carried out by messages on SimGrid's simulated MPI, compared with SMPI's own collectives and the models.
// simulate.py compiles this file with smpicxx, starts it and explains the figures.
//
//   simulate WIDTH packed|round-robin LATENCY/PER_BYTE,LATENCY/PER_BYTE OVERHEAD turn|once COLLECTIVE,BYTES,CHOICE...
//
// WIDTH ranks a node; links outermost first (one where WIDTH is 1), in seconds. "turn": a rank sends its messages one
// after the other, in program order. "once": messages to different ranks are sent at once, those to one rank one after
// the other, as on a connection. Writes one line a case: the case, then seconds simulated, by closed form, by Hockney's
// and by LogGP's model message by message ("-": none).
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../mpi_main.h"
#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/costs.h"
#include "core/predict/evaluate.h"
#include "core/predict/loggp.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace {

using namespace ranktree::core::predict;
using namespace ranktree::core::schedule;

#ifndef CHECKED_BYTES
#define CHECKED_BYTES (1 << 20)
#endif
#ifndef FOLLOWED_STEPS
#define FOLLOWED_STEPS 400'000
#endif
constexpr std::int64_t kCheckedBytes = CHECKED_BYTES;   // of a buffer; all ranks share longer ones, without content
constexpr std::size_t kFollowedSteps = FOLLOWED_STEPS;  // of all ranks, for models that follow messages
constexpr std::size_t kFollowedAlltoall = 70'000;       // most wait for one port there
constexpr double kPause = 0.05;                         // simulated seconds between two cases

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// One rank's memory. Long buffers have no content of their own, because those of 1,024 ranks would not fit into memory.
class Memory {
 public:
  Memory(std::int64_t count, bool checked) : checked_(checked) {
    const auto bytes = static_cast<std::size_t>(count);
    data_ = static_cast<unsigned char*>(checked_ ? std::calloc(bytes + 1, 1) : SMPI_SHARED_MALLOC(bytes + 1));
  }
  ~Memory() {
    if (checked_) {
      std::free(data_);
    } else {
      SMPI_SHARED_FREE(data_);
    }
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] unsigned char* data() const { return data_; }
  [[nodiscard]] bool checked() const { return checked_; }

 private:
  bool checked_;
  unsigned char* data_;
};

// The buffers of one operation, and whether their content can be checked.
struct Buffers {
  Memory input;
  Memory output;
  Memory scratch;
  [[nodiscard]] bool checked() const { return input.checked(); }
  [[nodiscard]] unsigned char* at(const Range& range) const {
    const Memory& memory = range.buffer == Buffer::kInput ? input : range.buffer == Buffer::kOutput ? output : scratch;
    return memory.data() + range.first;
  }
};

// Runs a program; messages with one peer are in program order (schedule.h).
class Execution {
 public:
  // "turn": the next message leaves when the one before has left. "once": no message waits for one to another rank.
  Execution(const Program& program, const Buffers& buffers, bool in_turn)
      : program_(program), buffers_(buffers), in_turn_(in_turn) {
    const std::size_t steps = program.steps.size();
    missing_.resize(steps);
    followers_.resize(steps);
    for (std::size_t i = 0; i < steps; ++i) {
      const Step& step = program.steps[i];
      missing_[i] = static_cast<int>(step.dependency_count);
      for (const std::int32_t before : program.dependencies_of(step)) {
        followers_[static_cast<std::size_t>(before)].push_back(i);
      }
      if (is_message(step)) queues_[key(step)].steps.push_back(i);
      if (missing_[i] == 0) ready_.insert(i);
    }
  }

  void run() {
    begin_ready();
    while (!requests_.empty()) {
      int done = 0;
      MPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUS_IGNORE);
      const auto index = static_cast<std::size_t>(done);
      const std::size_t step = posted_[index];
      requests_[index] = requests_.back();
      posted_[index] = posted_.back();
      requests_.pop_back();
      posted_.pop_back();
      if (program_.steps[step].action == Action::kSend) {
        --leaving_;
        queues_[key(program_.steps[step])].busy = false;
      }
      complete(step);
      begin_ready();
    }
  }

 private:
  struct Queue {
    std::vector<std::size_t> steps;
    std::size_t next = 0;
    bool busy = false;  // a message to this rank has not left
  };
  static bool is_message(const Step& step) { return step.action == Action::kSend || step.action == Action::kReceive; }
  static std::pair<Rank, bool> key(const Step& step) { return {step.peer, step.action == Action::kSend}; }

  void complete(std::size_t step) {
    for (const std::size_t next : followers_[step]) {
      if (--missing_[next] == 0) ready_.insert(next);
    }
  }

  void begin_ready() {
    while (!ready_.empty()) {
      const std::size_t step = *ready_.begin();
      ready_.erase(ready_.begin());
      const Step& now = program_.steps[step];
      if (!is_message(now)) {
        compute(now);
        complete(step);
      } else if (now.action == Action::kSend) {
        sends_.insert(step);
      } else {
        receive(queues_[key(now)]);
      }
    }
    send();
  }

  void receive(Queue& queue) {
    for (; queue.next < queue.steps.size() && missing_[queue.steps[queue.next]] == 0; ++queue.next) {
      const Step& step = program_.steps[queue.steps[queue.next]];
      MPI_Irecv(buffers_.at(step.into), static_cast<int>(step.into.count), MPI_BYTE, step.peer, 1, MPI_COMM_WORLD,
                posting(queue.steps[queue.next]));
    }
  }

  // Earlier steps go first.
  void send() {
    for (auto each = sends_.begin(); each != sends_.end() && (!in_turn_ || leaving_ == 0);) {
      const Step& step = program_.steps[*each];
      Queue& queue = queues_[key(step)];
      if (queue.busy || queue.steps[queue.next] != *each) {
        ++each;
        continue;
      }
      MPI_Isend(buffers_.at(step.from), static_cast<int>(step.from.count), MPI_BYTE, step.peer, 1, MPI_COMM_WORLD,
                posting(*each));
      ++leaving_;
      ++queue.next;
      queue.busy = true;
      each = sends_.erase(each);
    }
  }

  MPI_Request* posting(std::size_t step) {
    posted_.push_back(step);
    return &requests_.emplace_back();
  }

  // Takes no simulated time.
  void compute(const Step& step) const {
    if (!buffers_.checked()) return;
    const unsigned char* from = buffers_.at(step.from);
    unsigned char* into = buffers_.at(step.into);
    if (step.action == Action::kCopy) {
      std::memcpy(into, from, static_cast<std::size_t>(step.from.count));
      return;
    }
    for (std::int64_t i = 0; i < step.from.count; ++i) into[i] = static_cast<unsigned char>(into[i] + from[i]);
  }

  const Program& program_;
  const Buffers& buffers_;
  bool in_turn_;
  int leaving_ = 0;
  std::vector<int> missing_;
  std::vector<std::vector<std::size_t>> followers_;
  std::map<std::pair<Rank, bool>, Queue> queues_;
  std::set<std::size_t> ready_;
  std::set<std::size_t> sends_;  // sends that may begin
  std::vector<MPI_Request> requests_;
  std::vector<std::size_t> posted_;
};

struct Case {
  Question question;
  Choice choice;
  std::string text;
};

Case case_of(const std::string& text) {
  const std::size_t first = text.find(',');
  const std::size_t second = text.find(',', first + 1);
  const auto collective = collective_from_name(text.substr(0, first));
  if (!collective || second == std::string::npos) throw std::runtime_error("simulate: no case: " + text);
  const std::int64_t bytes = std::stoll(text.substr(first + 1, second - first - 1));
  return {{.collective = *collective, .bytes = bytes}, choice_from_text(text.substr(second + 1), *collective), text};
}

// Element i of rank `rank`: arbitrary bytes that differ between elements and ranks.
unsigned char given(std::int64_t rank, std::int64_t i) {
  return static_cast<unsigned char>(rank * 7 + i * 3 + i / 256);
}

std::int64_t input_bytes(const Question& question, int ranks) {
  if (question.collective == Collective::kBroadcast) return 0;
  return question.collective == Collective::kAlltoall ? question.bytes * ranks : question.bytes;
}
std::int64_t output_bytes(const Question& question, int ranks) {
  const bool all = question.collective == Collective::kAlltoall || question.collective == Collective::kAllgather;
  return all ? question.bytes * ranks : question.bytes;
}

unsigned char wanted(const Question& question, int ranks, int me, std::int64_t i) {
  const std::int64_t bytes = question.bytes;
  switch (question.collective) {
    case Collective::kBroadcast:
      return given(0, i);
    case Collective::kAllgather:
      return given(i / bytes, i % bytes);
    case Collective::kAlltoall:
      return given(i / bytes, me * bytes + i % bytes);
    default: {
      unsigned char sum = 0;
      for (int rank = 0; rank < ranks; ++rank) sum = static_cast<unsigned char>(sum + given(rank, i));
      return sum;
    }
  }
}

void check(const Case& each, const Buffers& buffers, int ranks) {
  const int me = rank_of_world();
  if (!buffers.checked() || (each.question.collective == Collective::kReduce && me != 0)) return;
  for (std::int64_t i = 0; i < output_bytes(each.question, ranks); ++i) {
    if (buffers.output.data()[i] != wanted(each.question, ranks, me, i)) {
      throw std::runtime_error("simulate: wrong result: " + each.text);
    }
  }
}

void call_native(const Question& question, const Buffers& buffers) {
  const auto bytes = static_cast<int>(question.bytes);
  void* in = buffers.input.data();
  void* out = buffers.output.data();
  switch (question.collective) {
    case Collective::kBroadcast:
      MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
      return;
    case Collective::kReduce:
      MPI_Reduce(in, out, bytes, MPI_UNSIGNED_CHAR, MPI_SUM, 0, MPI_COMM_WORLD);
      return;
    case Collective::kAllreduce:
      MPI_Allreduce(in, out, bytes, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
      return;
    case Collective::kAllgather:
      MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
      return;
    case Collective::kAlltoall:
      MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
      return;
    default:
      throw std::runtime_error("simulate: no such collective here");
  }
}

Program program_of(const Case& each, const Hierarchy& machine, int rank) {
  if (each.choice.variant == Variant::kNative) return {};
  const Request request{.collective = each.question.collective, .ranks = machine.ranks(), .count = each.question.bytes};
  if (each.choice.groups == 1)
    return make(request, {each.choice.composition.algorithms[0], each.choice.composition.segment}, rank);
  if (each.choice.groups == 0) return transform(request, machine, each.choice.composition, rank);
  return transform(request, Hierarchy::grouped(machine.ranks(), each.choice.groups), each.choice.composition, rank);
}

// Synchronises all ranks at one simulated time, which it returns.
double together() {
  const double now = MPI_Wtime();
  double latest = 0;
  MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double begin = latest + kPause;
  const double rest = begin - MPI_Wtime();
  const timespec pause{.tv_sec = 0, .tv_nsec = static_cast<long>(rest * 1e9)};
  nanosleep(&pause, nullptr);
  return begin;
}

bool everywhere(bool here) {
  const int mine = here ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

double simulated(const Case& each, const Program& program, int ranks, bool in_turn) {
  const std::int64_t in = input_bytes(each.question, ranks);
  const std::int64_t out = output_bytes(each.question, ranks);
  const bool checked = everywhere(std::max({in, out, program.scratch}) <= kCheckedBytes);
  const Buffers buffers{Memory(in, checked), Memory(out, checked), Memory(program.scratch, checked)};
  const int me = rank_of_world();
  for (std::int64_t i = 0; checked && i < in; ++i) buffers.input.data()[i] = given(me, i);
  const bool root = me == 0 && each.question.collective == Collective::kBroadcast;
  for (std::int64_t i = 0; checked && root && i < each.question.bytes; ++i) {
    buffers.output.data()[i] = given(0, i);
  }
  Execution execution(program, buffers, in_turn);
  const double begin = together();
  if (each.choice.variant == Variant::kNative) {
    call_native(each.question, buffers);
  } else {
    execution.run();
  }
  const double took = MPI_Wtime() - begin;
  double longest = 0;
  MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  check(each, buffers, ranks);
  return longest;
}

struct Setting {
  Hierarchy hierarchy = Hierarchy::flat(1);
  Parameters parameters;
};

Setting setting_of(int ranks, int width, bool packed, const std::string& links, double overhead) {
  Setting setting;
  setting.parameters.node_port = width > 1;
  std::istringstream parts(links);
  for (std::string link; std::getline(parts, link, ',');) {
    const std::size_t slash = link.find('/');
    setting.parameters.levels.push_back({.name = setting.parameters.levels.empty() ? "node" : "core",
                                         .latency = std::stod(link.substr(0, slash)),
                                         .per_byte = std::stod(link.substr(slash + 1)),
                                         .overhead_send = overhead,
                                         .overhead_receive = overhead,
                                         .gap = 0});
  }
  setting.hierarchy = Hierarchy::flat(ranks);
  if (width == 1) return setting;
  std::vector<std::int32_t> nodes;
  const int count = (ranks + width - 1) / width;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(packed ? rank / width : rank % count);
  setting.hierarchy = Hierarchy::from_colours({&nodes, 1});
  return setting;
}

std::string number(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", seconds);
  return text;
}

// The times by the models, which rank 0 calculates for all ranks.
std::string predicted(const Case& each, const Setting& setting, std::size_t steps) {
  if (each.choice.variant == Variant::kNative) return "-,-,-";
  const Machine machine(setting.hierarchy, setting.parameters);
  const auto form = form_of(each.question, each.choice, machine);
  std::string text = form ? number(form->seconds(static_cast<double>(each.question.bytes),
                                                 static_cast<double>(each.choice.composition.segment)))
                          : "-";
  const bool alltoall = each.question.collective == Collective::kAlltoall;
  if (steps > (alltoall ? kFollowedAlltoall : kFollowedSteps)) return text + ",-,-";
  const Schedule all = schedule_of(each.question, each.choice, setting.hierarchy);
  return text + "," + number(evaluate(all, hockney_of(machine))) + "," + number(evaluate(all, loggp_of(machine)));
}

void run(int argc, char** argv) {
  if (argc < 7) throw std::runtime_error("simulate: expected at least 6 arguments");
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Setting setting =
      setting_of(ranks, std::stoi(argv[1]), std::string(argv[2]) == "packed", argv[3], std::stod(argv[4]));
  const bool in_turn = std::string(argv[5]) == "turn";
  for (int i = 6; i < argc; ++i) {
    const Case each = case_of(argv[i]);
    const Program program = program_of(each, setting.hierarchy, rank_of_world());
    const double seconds = simulated(each, program, ranks, in_turn);
    unsigned long long steps = program.steps.size();
    unsigned long long all = 0;
    MPI_Allreduce(&steps, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank_of_world() != 0) continue;
    std::printf("%s,%s,%s\n", each.text.c_str(), number(seconds).c_str(), predicted(each, setting, all).c_str());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::mpi_main(argc, argv, run); }
