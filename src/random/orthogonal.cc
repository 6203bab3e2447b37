#include "random/orthogonal.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "base/checked.h"
#include "base/format.h"
#include "random/counters.h"
#include "random/whole_source.h"

// LAPACK's own (Fortran) interface: there is no header for it. Matrices are column-major.
extern "C" {
void sgeqrf_(const int* m, const int* n, float* a, const int* lda, float* tau, float* work, const int* lwork,
             int* info);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, const int* lwork,
             int* info);
void sorgqr_(const int* m, const int* n, const int* k, float* a, const int* lda, const float* tau, float* work,
             const int* lwork, int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau, double* work,
             const int* lwork, int* info);
}

namespace shardwise {
namespace {

// Columns that LAPACK works on together: its workspace is so many times the shorter side.
constexpr std::uint64_t kColumns = 32;
// LAPACK counts rows, columns and workspace in int.
constexpr std::uint64_t kMostRows = std::numeric_limits<int>::max();
constexpr std::uint64_t kMostColumns = kMostRows / kColumns;

template <typename T>
int factor(int m, int n, T* a, T* tau, T* work, int work_size) {
  int info = 0;
  if constexpr (std::is_same_v<T, float>) {
    sgeqrf_(&m, &n, a, &m, tau, work, &work_size, &info);
  } else {
    dgeqrf_(&m, &n, a, &m, tau, work, &work_size, &info);
  }
  return info;
}

template <typename T>
int make_q(int m, int n, T* a, const T* tau, T* work, int work_size) {
  int info = 0;
  if constexpr (std::is_same_v<T, float>) {
    sorgqr_(&m, &n, &n, a, &m, tau, work, &work_size, &info);
  } else {
    dorgqr_(&m, &n, &n, a, &m, tau, work, &work_size, &info);
  }
  return info;
}

// The matrix that is factored has at least as many rows as columns; `transposed` when the tensor has fewer.
struct Sides {
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  bool transposed = false;
};

Sides sides_of(const Shape& shape) {
  const auto last = static_cast<std::uint64_t>(shape.back());
  std::uint64_t others = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) others *= static_cast<std::uint64_t>(shape[d]);
  return {std::max(others, last), std::min(others, last), others < last};
}

// The orthogonal matrix, column-major. The elements of the tensor lie in it in their own order when it is transposed,
// and `rows` apart along the tensor's last dimension when not.
template <typename T>
class OrthogonalSource final : public RunSource {
 public:
  OrthogonalSource(Sides sides, std::unique_ptr<T[]> matrix)
      : RunSource(sizeof(T)), sides_(sides), matrix_(std::move(matrix)) {}

  Status fill_run(std::uint64_t first, std::uint64_t count, std::byte* out) const override {
    if (sides_.transposed) {
      std::memcpy(out, matrix_.get() + first, count * sizeof(T));
      return {};
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t index = first + i;
      const T& value = matrix_[index % sides_.columns * sides_.rows + index / sides_.columns];
      std::memcpy(out + i * sizeof(T), &value, sizeof(T));
    }
    return {};
  }
  std::uint64_t held_bytes() const override { return sides_.rows * sides_.columns * sizeof(T); }

 private:
  Sides sides_;
  std::unique_ptr<T[]> matrix_;
};

template <typename T>
Status fill_normal(RandomKey key, const Sides& sides, DType dtype, T* matrix) {
  const Shape shape = {static_cast<std::int64_t>(sides.rows), static_cast<std::int64_t>(sides.columns)};
  SHARDWISE_ASSIGN_OR_RETURN(const Generator normal, random::make_generator(key, random::Normal{}, shape, dtype));
  std::array<T, kRandomBlock> block;
  const std::uint64_t elements = sides.rows * sides.columns;
  for (std::uint64_t first = 0; first < elements; first += kRandomBlock) {
    const std::span part(block.data(), std::min<std::uint64_t>(kRandomBlock, elements - first));
    SHARDWISE_RETURN_IF_ERROR(normal.generate_range(first, std::as_writable_bytes(part)));
    for (std::uint64_t i = 0; i < part.size(); ++i) {
      const std::uint64_t index = first + i;
      matrix[index % sides.columns * sides.rows + index / sides.columns] = part[i];
    }
  }
  return {};
}

template <typename T>
Result<SourcePtr> make_source(RandomKey key, double gain, const Sides& sides, DType dtype) {
  const auto allocate = [](std::uint64_t count) { return std::unique_ptr<T[]>(new (std::nothrow) T[count]); };
  const std::uint64_t elements = sides.rows * sides.columns;
  std::unique_ptr<T[]> matrix = allocate(elements);
  const std::unique_ptr<T[]> tau = allocate(sides.columns);
  const std::unique_ptr<T[]> work = allocate(sides.columns * kColumns);
  if (matrix == nullptr || tau == nullptr || work == nullptr) {
    return resource_exhausted("an orthogonal matrix of {} by {} needs {} bytes at once", sides.rows, sides.columns,
                              elements * sizeof(T));
  }
  SHARDWISE_RETURN_IF_ERROR(fill_normal(key, sides, dtype, matrix.get()));
  const int m = static_cast<int>(sides.rows);
  const int n = static_cast<int>(sides.columns);
  const int work_size = static_cast<int>(sides.columns * kColumns);
  int info = factor(m, n, matrix.get(), tau.get(), work.get(), work_size);
  std::vector<T> scale(sides.columns);
  for (std::uint64_t j = 0; j < sides.columns; ++j) {
    const T diagonal = matrix[j * sides.rows + j];
    scale[j] = diagonal > 0 ? T{1} : diagonal < 0 ? T{-1} : T{0};
  }
  if (info == 0) info = make_q(m, n, matrix.get(), tau.get(), work.get(), work_size);
  if (info != 0) return internal_error("LAPACK refused argument {} of a QR factorisation", -info);
  const T factor = static_cast<T>(gain);
  for (std::uint64_t j = 0; j < sides.columns; ++j) {
    T* column = matrix.get() + j * sides.rows;
    for (std::uint64_t i = 0; i < sides.rows; ++i) column[i] = factor * (column[i] * scale[j]);
  }
  return SourcePtr(std::make_shared<OrthogonalSource<T>>(sides, std::move(matrix)));
}

}  // namespace

std::uint64_t orthogonal_host_bytes(const Shape& shape, DType dtype) {
  const auto bytes = byte_count(shape, dtype);
  if (!bytes.ok() || shape.size() < 2) return 0;
  return *bytes + sides_of(shape).columns * (kColumns + 2) * byte_width(dtype);
}

Result<SourcePtr> make_orthogonal_source(RandomKey key, double gain, const Shape& shape, DType dtype) {
  const Sides sides = sides_of(shape);
  if (sides.rows > kMostRows || sides.columns > kMostColumns) {
    return invalid_argument("an orthogonal matrix of {} by {}: LAPACK has at most {} by {}", sides.rows, sides.columns,
                            kMostRows, kMostColumns);
  }
  if (dtype == DType::kFloat32) return make_source<float>(key, gain, sides, dtype);
  return make_source<double>(key, gain, sides, dtype);
}

}  // namespace shardwise
