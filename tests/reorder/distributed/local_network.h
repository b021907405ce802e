// Shards as threads: every id's part of the work is done where it would be done, with nothing but messages between.
#pragma once

#include <barrier>
#include <cstddef>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "core/reorder/network.h"

namespace ranktree::test {

using core::reorder::Bytes;

class LocalNetwork {
 public:
  LocalNetwork(int ids, int shards)
      : ids_(ids),
        shards_(shards),
        barrier_(shards),
        sent_(static_cast<std::size_t>(shards)),
        sums_(static_cast<std::size_t>(shards)) {}

  // Calls work(network) in one thread a shard, ids dealt out like cards.
  void run(const std::function<void(core::reorder::Network&)>& work) {
    std::vector<std::thread> threads;
    for (int shard = 0; shard < shards_; ++shard) {
      threads.emplace_back([this, shard, &work] {
        Member member(*this, shard);
        work(member);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  class Member : public core::reorder::Network {
   public:
    Member(LocalNetwork& all, int shard) : all_(all), shard_(shard) {}
    [[nodiscard]] int shard_of(int id) const override { return id % all_.shards_; }
    [[nodiscard]] std::vector<int> held() const override {
      std::vector<int> ids;
      for (int id = shard_; id < all_.ids_; id += all_.shards_) ids.push_back(id);
      return ids;
    }
    std::map<int, Bytes> exchange(const std::map<int, Bytes>& messages) override {
      all_.sent_[static_cast<std::size_t>(shard_)] = messages;
      all_.barrier_.arrive_and_wait();
      std::map<int, Bytes> received;
      for (int from = 0; from < all_.shards_; ++from) {
        const auto& sent = all_.sent_[static_cast<std::size_t>(from)];
        if (const auto found = sent.find(shard_); found != sent.end()) received[from] = found->second;
      }
      all_.barrier_.arrive_and_wait();
      return received;
    }
    std::vector<double> sum(const std::vector<double>& own) override {
      all_.sums_[static_cast<std::size_t>(shard_)] = own;
      all_.barrier_.arrive_and_wait();
      std::vector<double> sum(own.size(), 0);
      for (const auto& one : all_.sums_) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
      }
      all_.barrier_.arrive_and_wait();
      return sum;
    }
    Bytes broadcast(const Bytes& bytes) override {
      if (shard_ == 0) all_.broadcast_ = bytes;
      all_.barrier_.arrive_and_wait();
      Bytes result = all_.broadcast_;
      all_.barrier_.arrive_and_wait();
      return result;
    }

   private:
    LocalNetwork& all_;
    int shard_;
  };

  int ids_;
  int shards_;
  std::barrier<> barrier_;
  std::vector<std::map<int, Bytes>> sent_;
  std::vector<std::vector<double>> sums_;
  Bytes broadcast_;
};

}  // namespace ranktree::test
