// Each stage's Python names are added to ranktree._core by one function in one file.
#pragma once

#include <nanobind/nanobind.h>

void bind_topo(nanobind::module_& module);
void bind_pattern(nanobind::module_& module);
void bind_place(nanobind::module_& module);
void bind_grid(nanobind::module_& module);
void bind_launch(nanobind::module_& module);
void bind_trace(nanobind::module_& module);
void bind_predict(nanobind::module_& module);
