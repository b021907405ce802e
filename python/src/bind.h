// Each stage's Python names are added to ranktree._core by one function in one file.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

// An array of whole numbers from anything that numpy takes for one. Others, which numpy would cut off, are refused:
// throws Error(kInput) with the name.
using WholeNumbers =
    nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
WholeNumbers whole_numbers(const char* name, nanobind::handle given);

void bind_topo(nanobind::module_& module);
void bind_pattern(nanobind::module_& module);
void bind_place(nanobind::module_& module);
void bind_grid(nanobind::module_& module);
void bind_launch(nanobind::module_& module);
void bind_trace(nanobind::module_& module);
void bind_predict(nanobind::module_& module);
