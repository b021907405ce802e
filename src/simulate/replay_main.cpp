// Sends the messages of a recorded pattern: an MPI program, for simulations and, to compare them with, for real MPIs.
//
//   replay PATTERN ROUNDS WEIGHT
//
// The pattern is point-to-point traffic: collective calls have been expanded. It is sent in ROUNDS rounds, each of
// which stands for WEIGHT of the program's own. In a round a rank posts its receives and sends, at most one message a
// pair, and waits for all of them. A pair with n messages and b bytes sends k = ceil(n / WEIGHT) of b / (k WEIGHT)
// bytes, at most one a round, spread evenly over the rounds. Rank 0 prints the seconds of all rounds of the slowest
// rank.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "io/pattern_file.h"

namespace {

using ranktree::core::pattern::Pattern;
using ranktree::core::pattern::Rank;

// One pair's share of every round in which it sends.
struct Message {
  Rank from = 0;
  Rank to = 0;
  int count = 0;  // of rounds with a message
  int bytes = 0;
};

constexpr double kLongest = 1U << 30U;  // bytes of a message, as in python/ranktree/simulate/replay.py

// All messages by sender, and for each rank those it receives.
struct Traffic {
  Rank ranks = 0;
  int rounds = 1;
  int longest = 0;  // bytes
  std::vector<Message> messages;
  std::vector<std::vector<std::size_t>> sent, received;  // by rank: indices of messages
};

bool sends_in(const Message& message, int round, int rounds) {
  // One of `count` rounds spread evenly: where the whole part of round * count / rounds steps up.
  const auto before = static_cast<std::int64_t>(round) * message.count / rounds;
  return (static_cast<std::int64_t>(round) + 1) * message.count / rounds > before;
}

Traffic traffic_of(const Pattern& pattern, int rounds, double weight) {
  Traffic traffic{.ranks = pattern.ranks, .rounds = rounds};
  traffic.sent.resize(static_cast<std::size_t>(pattern.ranks));
  traffic.received.resize(static_cast<std::size_t>(pattern.ranks));
  const auto total = ranktree::core::pattern::total(pattern);
  for (Rank from = 0; from < pattern.ranks; ++from) {
    const auto row = static_cast<std::size_t>(from);
    for (auto i = static_cast<std::size_t>(pattern.indptr[row]); i < static_cast<std::size_t>(pattern.indptr[row + 1]);
         ++i) {
      const Rank to = pattern.indices[i];
      if (to == from || (total.messages[i] == 0 && total.bytes[i] == 0)) continue;
      const double needed =
          std::max(std::round(total.messages[i] / weight), std::ceil(total.bytes[i] / (weight * kLongest)));
      const double count = std::clamp(needed, 1.0, static_cast<double>(rounds));
      const auto bytes = static_cast<int>(std::llround(total.bytes[i] / (count * weight)));
      traffic.longest = std::max(traffic.longest, bytes);
      traffic.sent[row].push_back(traffic.messages.size());
      traffic.received[static_cast<std::size_t>(to)].push_back(traffic.messages.size());
      traffic.messages.push_back({from, to, static_cast<int>(count), bytes});
    }
  }
  return traffic;
}

// Simulated ranks share one process, and so one copy.
const Traffic& shared_traffic(char** arguments) {
  static const Traffic traffic =
      traffic_of(ranktree::io::load_pattern(arguments[1]).pattern,
                 static_cast<int>(std::strtol(arguments[2], nullptr, 10)), std::strtod(arguments[3], nullptr));
  return traffic;
}

// One buffer for everything: contents do not matter. Simulated ranks share it.
char* make_buffer(int bytes) {
#ifdef SMPI_SHARED_MALLOC
  static char* const buffer = static_cast<char*>(SMPI_SHARED_MALLOC(static_cast<std::size_t>(bytes) + 1));
  return buffer;
#else
  return static_cast<char*>(std::calloc(static_cast<std::size_t>(bytes) + 1, 1));
#endif
}

void run_round(const Traffic& traffic, int rank, int round, char* buffer, std::vector<MPI_Request>& requests) {
  requests.clear();
  for (const std::size_t i : traffic.received[static_cast<std::size_t>(rank)]) {
    const Message& message = traffic.messages[i];
    if (!sends_in(message, round, traffic.rounds)) continue;
    MPI_Irecv(buffer, message.bytes, MPI_BYTE, message.from, 0, MPI_COMM_WORLD, &requests.emplace_back());
  }
  for (const std::size_t i : traffic.sent[static_cast<std::size_t>(rank)]) {
    const Message& message = traffic.messages[i];
    if (!sends_in(message, round, traffic.rounds)) continue;
    MPI_Isend(buffer, message.bytes, MPI_BYTE, message.to, 0, MPI_COMM_WORLD, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

// Simulated ranks all begin at 0 and leave no other message: the simulation's own time is the result.
void print_seconds([[maybe_unused]] double begin, [[maybe_unused]] int rank) {
#ifndef SMPI_SHARED_MALLOC
  const double mine = MPI_Wtime() - begin;
  double longest = 0;
  MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%.9g\n", longest);
#endif
}

int run(char** arguments) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Traffic& traffic = shared_traffic(arguments);
  if (size != traffic.ranks) {
    throw ranktree::core::Error(
        ranktree::core::Fault::kMismatch,
        "replay: the pattern has " + std::to_string(traffic.ranks) + " ranks, started were " + std::to_string(size));
  }
  char* const buffer = make_buffer(traffic.longest);
  std::vector<MPI_Request> requests;
#ifndef SMPI_SHARED_MALLOC
  run_round(traffic, rank, 0, buffer, requests);  // connections are made at the first message
  MPI_Barrier(MPI_COMM_WORLD);
#endif
  const double begin = MPI_Wtime();
  for (int round = 0; round < traffic.rounds; ++round) run_round(traffic, rank, round, buffer, requests);
  print_seconds(begin, rank);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  if (count != 4) {
    std::fprintf(stderr, "usage: replay PATTERN ROUNDS WEIGHT\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  try {
    run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
