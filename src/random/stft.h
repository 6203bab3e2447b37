// Keras's STFT initializer: a kernel of cosines or sines, windowed.
#pragma once

#include "random/sources.h"
#include "shardwise/initializer.h"

namespace shardwise {

// Errors: INVALID_ARGUMENT for a rank other than 3, a window that is unknown or of another length.
Status check_stft(const StftOptions& options, const Shape& shape);
// Parameters, shape and dtype have been checked.
Result<SourcePtr> make_stft_source(const StftOptions& options, const Shape& shape, DType dtype);

}  // namespace shardwise
