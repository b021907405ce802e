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

// The matrix in the bytes of a .npy file. Entries may be any numbers. Throws Error naming file and place.
WholeMatrix read_npy_matrix(std::string_view bytes, const std::string& origin);

// The matrix in an .npz file that holds nothing else; nothing where it holds something else.
std::optional<WholeMatrix> read_npz_matrix(const NpzReader& file);

// A matrix as a pattern. Numbers become bytes, or messages where `metric` is kMessages.
core::pattern::Pattern pattern_of(const WholeMatrix& matrix, const std::string& origin, MetricChoice metric,
                                  Warnings& warnings);

// The pattern of a sparse matrix in an .npz file; nothing where it holds something else.
std::optional<core::pattern::Pattern> read_sparse_matrix(const NpzReader& file, const std::string& origin,
                                                         MetricChoice metric, Warnings& warnings);

}  // namespace ranktree::io
