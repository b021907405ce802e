# Whole files, and patterns in all formats.
target_sources(
  ranktree_io
  PRIVATE
    file.cpp
    matrix_market.cpp
    npy_header.cpp
    npz_reader.cpp
    npz_writer.cpp
    open_mpi_monitoring.cpp
    pattern_csv.cpp
    pattern_file.cpp
    pattern_graph.cpp
    pattern_npz.cpp
    pattern_text.cpp
    text.cpp
    treematch_mat.cpp
)
