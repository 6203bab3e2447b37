// Values that are known without drawing: one number everywhere, or a diagonal.
#pragma once

#include "random/numbers.h"
#include "random/sources.h"

namespace shardwise {

SourcePtr make_constant_source(const ElementBytes& element, DType dtype);
// `columns` to a row; the elements whose row is their column are `diagonal`, the others `elsewhere`.
SourcePtr make_diagonal_source(const ElementBytes& diagonal, const ElementBytes& elsewhere, std::uint64_t columns,
                               DType dtype);

}  // namespace shardwise
