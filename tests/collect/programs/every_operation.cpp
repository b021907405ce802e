// every_operation: the predefined operations on the predefined datatypes of C and Fortran that they are defined for, by
// allreduce, reduce to each root and reduce_scatter, against the native calls. Prints "ok" and how many were compared.
#include <mpi.h>
#include <ranktree/mpi.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Named {
  MPI_Op op;
  const char* name;
  int less = 0;  // than 1 or 2 are the operands
};

const std::vector<Named> kOrders = {{MPI_MAX, "MAX"}, {MPI_MIN, "MIN"}};
const std::vector<Named> kArithmetic = {{MPI_SUM, "SUM"}, {MPI_PROD, "PROD"}};
const std::vector<Named> kLogical = {{MPI_LAND, "LAND", 1}, {MPI_LOR, "LOR", 1}, {MPI_LXOR, "LXOR", 1}};
const std::vector<Named> kBits = {{MPI_BAND, "BAND"}, {MPI_BOR, "BOR"}, {MPI_BXOR, "BXOR"}};
const std::vector<Named> kPlaces = {{MPI_MAXLOC, "MAXLOC"}, {MPI_MINLOC, "MINLOC"}};

template <typename Value>
struct Located {
  Value value;
  int place;
  bool operator==(const Located& other) const { return value == other.value && place == other.place; }
};

// 1 or 2: of so many ranks neither sums nor products leave a signed byte.
int small(int rank, int i) { return (i + rank) % 3 == 0 ? 2 : 1; }

template <typename Value>
struct Make {
  static Value value(int rank, int i, int less) { return static_cast<Value>(small(rank, i) - less); }
};
template <typename Real>
struct Make<std::complex<Real>> {
  static std::complex<Real> value(int rank, int i, int /*less*/) {
    return {static_cast<Real>(small(rank, i)), static_cast<Real>(small(rank, i + 1))};
  }
};
template <typename Value>
struct Make<Located<Value>> {
  static Located<Value> value(int rank, int i, int /*less*/) { return {static_cast<Value>(small(rank, i)), rank}; }
};

class Checks {
 public:
  Checks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  template <typename Value>
  void compare(MPI_Datatype type, const char* name, const std::vector<std::vector<Named>>& groups) {
    for (const std::vector<Named>& group : groups) {
      for (const Named& each : group) {
        what_ = std::string(each.name) + " of " + name;
        compare_one<Value>(type, each);
      }
    }
  }

  [[nodiscard]] int compared() const { return compared_; }
  [[nodiscard]] int rank() const { return rank_; }

 private:
  static constexpr int kCount = 75;

  template <typename Value>
  void compare_one(MPI_Datatype type, const Named& named) {
    MPI_Op op = named.op;
    const auto from = array_of<Value>(kCount * size_);
    for (int i = 0; i < kCount * size_; ++i) from[i] = Make<Value>::value(rank_, i, named.less);
    const auto expect_same = [&](const auto& call, const auto& native) {
      const auto ours = array_of<Value>(kCount);
      const auto theirs = array_of<Value>(kCount);
      if (call(ours.get()) != MPI_SUCCESS || native(theirs.get()) != MPI_SUCCESS) fail("an error");
      for (int i = 0; i < kCount; ++i) {
        if (!(ours[i] == theirs[i])) fail("another result");
      }
      ++compared_;
    };
    const MPI_Comm world = MPI_COMM_WORLD;
    expect_same([&](Value* into) { return ranktree_Allreduce(from.get(), into, kCount, type, op, world); },
                [&](Value* into) { return PMPI_Allreduce(from.get(), into, kCount, type, op, world); });
    expect_same([&](Value* into) { return ranktree_Reduce_scatter_block(from.get(), into, kCount, type, op, world); },
                [&](Value* into) { return PMPI_Reduce_scatter_block(from.get(), into, kCount, type, op, world); });
    for (int root = 0; root < size_; ++root) {
      expect_same([&](Value* into) { return ranktree_Reduce(from.get(), into, kCount, type, op, root, world); },
                  [&](Value* into) { return PMPI_Reduce(from.get(), into, kCount, type, op, root, world); });
    }
  }

  // Vectors of bool have no address.
  template <typename Value>
  static std::unique_ptr<Value[]> array_of(int count) {
    return std::make_unique<Value[]>(static_cast<std::size_t>(count));
  }

  void fail(const char* how) const {
    std::printf("%s: %s\n", what_.c_str(), how);
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  int rank_ = 0;
  int size_ = 1;
  int compared_ = 0;
  std::string what_;
};

#define COMPARE(Value, Type, ...) checks.compare<Value>(Type, #Type, {__VA_ARGS__})
#define COMPARE_INTEGER(Value, Type) COMPARE(Value, Type, kOrders, kArithmetic, kLogical, kBits)

void compare_fortran(Checks& checks) {
  COMPARE(int, MPI_INTEGER, kOrders, kArithmetic, kBits);
  COMPARE(std::int8_t, MPI_INTEGER1, kOrders, kArithmetic, kBits);
  COMPARE(std::int16_t, MPI_INTEGER2, kOrders, kArithmetic, kBits);
  COMPARE(std::int32_t, MPI_INTEGER4, kOrders, kArithmetic, kBits);
  COMPARE(std::int64_t, MPI_INTEGER8, kOrders, kArithmetic, kBits);
  COMPARE(float, MPI_REAL, kOrders, kArithmetic);
  COMPARE(float, MPI_REAL4, kOrders, kArithmetic);
  COMPARE(double, MPI_DOUBLE_PRECISION, kOrders, kArithmetic);
  COMPARE(double, MPI_REAL8, kOrders, kArithmetic);
  COMPARE(std::complex<float>, MPI_COMPLEX, kArithmetic);
  COMPARE(std::complex<float>, MPI_COMPLEX8, kArithmetic);
  COMPARE(std::complex<double>, MPI_DOUBLE_COMPLEX, kArithmetic);
  COMPARE(std::complex<double>, MPI_COMPLEX16, kArithmetic);
  COMPARE(int, MPI_LOGICAL, kLogical);
  COMPARE(Located<int>, MPI_2INTEGER, kPlaces);
}

void compare_c(Checks& checks) {
  COMPARE_INTEGER(signed char, MPI_SIGNED_CHAR);
  COMPARE_INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
  COMPARE_INTEGER(short, MPI_SHORT);
  COMPARE_INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
  COMPARE_INTEGER(int, MPI_INT);
  COMPARE_INTEGER(unsigned, MPI_UNSIGNED);
  COMPARE_INTEGER(long, MPI_LONG);
  COMPARE_INTEGER(unsigned long, MPI_UNSIGNED_LONG);
  COMPARE_INTEGER(long long, MPI_LONG_LONG);
  COMPARE_INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG);
  COMPARE_INTEGER(std::int8_t, MPI_INT8_T);
  COMPARE_INTEGER(std::int16_t, MPI_INT16_T);
  COMPARE_INTEGER(std::int32_t, MPI_INT32_T);
  COMPARE_INTEGER(std::int64_t, MPI_INT64_T);
  COMPARE_INTEGER(std::uint8_t, MPI_UINT8_T);
  COMPARE_INTEGER(std::uint16_t, MPI_UINT16_T);
  COMPARE_INTEGER(std::uint32_t, MPI_UINT32_T);
  COMPARE_INTEGER(std::uint64_t, MPI_UINT64_T);
  COMPARE(MPI_Aint, MPI_AINT, kOrders, kArithmetic, kBits);
  COMPARE(MPI_Offset, MPI_OFFSET, kOrders, kArithmetic, kBits);
  COMPARE(MPI_Count, MPI_COUNT, kOrders, kArithmetic, kBits);
  COMPARE(float, MPI_FLOAT, kOrders, kArithmetic);
  COMPARE(double, MPI_DOUBLE, kOrders, kArithmetic);
  COMPARE(long double, MPI_LONG_DOUBLE, kOrders, kArithmetic);
  COMPARE(std::complex<float>, MPI_C_FLOAT_COMPLEX, kArithmetic);
  COMPARE(std::complex<double>, MPI_C_DOUBLE_COMPLEX, kArithmetic);
  COMPARE(std::complex<long double>, MPI_C_LONG_DOUBLE_COMPLEX, kArithmetic);
  COMPARE(bool, MPI_C_BOOL, kLogical);
  COMPARE(unsigned char, MPI_BYTE, kBits);
  COMPARE(Located<short>, MPI_SHORT_INT, kPlaces);
  COMPARE(Located<int>, MPI_2INT, kPlaces);
  COMPARE(Located<long>, MPI_LONG_INT, kPlaces);
  COMPARE(Located<float>, MPI_FLOAT_INT, kPlaces);
  COMPARE(Located<double>, MPI_DOUBLE_INT, kPlaces);
  COMPARE(Located<long double>, MPI_LONG_DOUBLE_INT, kPlaces);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Checks checks;
  compare_c(checks);
  compare_fortran(checks);
  if (checks.rank() == 0) std::printf("ok %d\n", checks.compared());
  MPI_Finalize();
  return 0;
}
