// Predicted costs of collectives from C++20; the object owns what ranktree/predict.h makes. Link with libranktree.
// Everything is local.
//
//   const auto prediction = ranktree::predict(ranktree::Topo::load("node:8 core:8"), "bcast", 64, 1 << 20);
//   for (const ranktree_predicted& cost : prediction.costs()) { ... }
#ifndef RANKTREE_PREDICT_HPP
#define RANKTREE_PREDICT_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ranktree/error.hpp"
#include "ranktree/place.hpp"
#include "ranktree/predict.h"

namespace ranktree {

/** As ranktree_predict_options, with the same defaults. */
struct PredictOptions {
  std::string parameters = {}; /**< "": none */
  int groups = 0;
  bool by_node = false;
  bool shared_memory = true;
  ranktree_cost_model model = RANKTREE_COST_MODEL_AUTOMATIC;
};

/** What one collective costs on one machine. */
class Prediction {
 public:
  /** Base algorithms first, then the hierarchical and the shared variant where there are. Their texts belong to this.
   */
  [[nodiscard]] std::vector<ranktree_predicted> costs() const {
    std::vector<ranktree_predicted> found;
    while (const auto* each = ranktree_prediction_get_cost(get(), static_cast<int>(found.size()))) {
      found.push_back(*each);
    }
    return found;
  }
  /** The best number of groups by form and algorithm. Their texts belong to this. */
  [[nodiscard]] std::vector<ranktree_predicted_groups> groups() const {
    std::vector<ranktree_predicted_groups> found;
    while (const auto* each = ranktree_prediction_get_groups(get(), static_cast<int>(found.size()))) {
      found.push_back(*each);
    }
    return found;
  }
  /** Where the costs of links come from. */
  [[nodiscard]] std::string source() const { return ranktree_prediction_get_source(get()); }
  [[nodiscard]] const ranktree_prediction* get() const noexcept { return prediction_.get(); }

 private:
  friend Prediction predict(const Topo& topo, const std::string& collective, int ranks, std::uint64_t bytes,
                            const PredictOptions& options);
  explicit Prediction(ranktree_prediction* prediction) noexcept : prediction_(prediction) {}

  std::unique_ptr<ranktree_prediction, detail::By<&ranktree_prediction_destroy>> prediction_;
};

/** As ranktree_predict(). Throws Error. */
inline Prediction predict(const Topo& topo, const std::string& collective, int ranks, std::uint64_t bytes,
                          const PredictOptions& options = {}) {
  ranktree_predict_options given;
  ranktree_predict_options_init(&given);
  given.parameters = options.parameters.empty() ? nullptr : options.parameters.c_str();
  given.groups = options.groups;
  given.by_node = options.by_node ? 1 : 0;
  given.no_shared_memory = options.shared_memory ? 0 : 1;
  given.model = options.model;
  return Prediction(detail::value_of<ranktree_prediction*>([&](auto** made, auto* error) {
    return ranktree_predict(topo.get(), collective.c_str(), ranks, bytes, &given, made, error);
  }));
}

}  // namespace ranktree

#endif
