// Calibrated parameters as JSON, specified in docs/reference/formats/parameters.md.
#pragma once

#include <string>
#include <string_view>

#include "core/predict/modelled.h"
#include "core/predict/parameters.h"

namespace ranktree::io {

struct MeasuredParameters {
  core::predict::Parameters parameters;
  // Where they were measured: readers compare it with where they use them.
  std::string machine;    // the first rank's host
  std::string mpi;        // first line of MPI_Get_library_version
  int ranks = 1;          // of the launch
  int nodes = 1;          // that had ranks
  int ranks_of_node = 1;  // on the fullest node
  int pus_of_rank = 1;    // PUs that the first rank was bound to
};

// Throws Error(kInput) where values break a rule of the format, so that every written file can be read.
std::string write_parameters(const MeasuredParameters& measured);

// Throws Error(kInput) naming `origin` and the field, what was expected and found.
MeasuredParameters read_parameters(std::string_view bytes, const std::string& origin);

// Where the links of a machine come from, in words. `measured` and its path count only for LinkSource::kMeasured.
std::string source_text(const core::predict::Modelled& machine, const std::string& path,
                        const MeasuredParameters& measured);

void save_parameters(const std::string& path, const MeasuredParameters& measured);
MeasuredParameters load_parameters(const std::string& path);

// Usual parameters of a class of clusters ("ethernet-1g", core/objective/model.h), else those of a file of that name.
core::predict::Parameters parameters_named(const std::string& class_or_path);

}  // namespace ranktree::io
