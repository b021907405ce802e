// Matrices of numpy and scipy: .npy files, .npz files that hold one array, and files of scipy.sparse.save_npz.
// docs/reference/formats/pattern.md
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/pattern/pattern.h"
#include "io/npz.h"
#include "io/pattern_formats.h"

namespace ranktree::io {

// A square matrix, row by row: what the row's rank sends to the column's.
struct WholeMatrix {
  core::pattern::Rank ranks = 0;
  std::variant<std::vector<double>, std::vector<float>> values;  // float where the file has floats of 4 bytes
};

// The matrix in a .npy file, or in an .npz file that holds nothing else; nothing where the path has another extension
// or the file holds something else. Entries may be any numbers. Throws Error naming file and place.
std::optional<WholeMatrix> load_matrix(const std::string& path);

// The same as a pattern, from the bytes of a .npy file. Numbers become bytes, or messages where `metric` is kMessages.
core::pattern::Pattern read_npy_matrix(std::string_view bytes, const std::string& origin, MetricChoice metric,
                                       Warnings& warnings);

// The pattern of a whole or sparse matrix in an .npz file; nothing where it holds something else.
std::optional<core::pattern::Pattern> read_npz_matrix(const NpzReader& file, const std::string& origin,
                                                      MetricChoice metric, Warnings& warnings);

}  // namespace ranktree::io
