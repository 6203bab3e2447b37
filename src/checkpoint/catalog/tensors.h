// Small services for readers: lists of tensors, and messages.
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

// The status with the file's path before its message, unless it stands there already, as in errors of File::read().
Status in_file(const Status& status, const std::string& path);

}  // namespace shardwise
