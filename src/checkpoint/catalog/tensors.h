// Small services for the readers' lists of tensors.
#pragma once

#include <string>
#include <vector>

#include "shardwise/catalog.h"
#include "shardwise/status.h"

namespace shardwise {

// Every name is free of NUL (which would hide its tail from C-string code) and stands once. Errors: DATA_LOSS naming
// the tensor. Linear in the number of tensors.
Status check_names(const std::vector<TensorInfo>& tensors);

// Orders as Catalog::tensors promises: by file, then first byte. Tensors without stored bytes come last; equal ones
// keep their order.
void sort_by_first_byte(std::vector<TensorInfo>& tensors);

}  // namespace shardwise
