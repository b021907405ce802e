// Datatypes, operations and random arguments for checking collectives: every type is made of ints at known places.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using Bytes = std::vector<unsigned char>;
using Dice = std::mt19937;

inline int roll(Dice& dice, int below) { return static_cast<int>(dice() % static_cast<unsigned>(below)); }

// A datatype and where its ints are, in the order of its type map.
struct Kind {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<int> ints;  // byte offsets; empty: not made of ints
  int lower = 0;          // the lowest byte of an element, counted from its address
  int upper = 0;          // the end of the highest
  int extent = 0;
};

// Owns what it makes.
class Kinds {
 public:
  Kinds();
  ~Kinds();
  Kinds(const Kinds&) = delete;
  Kinds& operator=(const Kinds&) = delete;
  Kinds(Kinds&&) = delete;
  Kinds& operator=(Kinds&&) = delete;
  [[nodiscard]] const std::vector<Kind>& of_ints() const { return of_ints_; }  // the first is MPI_INT
  [[nodiscard]] const Kind& real() const { return real_; }                     // MPI_DOUBLE
  [[nodiscard]] const Kind& pair() const { return pair_; }                     // MPI_DOUBLE_INT
  [[nodiscard]] MPI_Op commutative() const { return commutative_; }
  [[nodiscard]] MPI_Op ordered() const { return ordered_; }

 private:
  std::vector<Kind> of_ints_;
  Kind real_;
  Kind pair_;
  MPI_Op commutative_ = MPI_OP_NULL;
  MPI_Op ordered_ = MPI_OP_NULL;
};

// A region of `elements` elements with canaries around it.
struct Area {
  Bytes bytes;
  std::ptrdiff_t first = 0;  // of element 0's address in bytes
  void* address() { return bytes.data() + first; }
};
Area make_area(const Kind& kind, std::int64_t elements);

// Values that any order of summation adds up to exactly, seeded by `seed`.
void fill(Area& area, const Kind& kind, std::int64_t elements, unsigned seed);

// The bytes of blocks of elements that are data: of each its first element and its number of elements.
struct Run {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
std::vector<bool> data_of(const Area& area, const Kind& kind, const std::vector<Run>& runs);
