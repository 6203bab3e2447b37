// One source for each kind of random values. Parameters and dtype have been checked.
#pragma once

#include <memory>

#include "random/recipe.h"
#include "shardwise/generator.h"

namespace shardwise {

using SourcePtr = std::shared_ptr<const Generator::Source>;

SourcePtr make_float_source(RandomKey key, const Recipe<arithmetic::Float32>& recipe);
SourcePtr make_float_source(RandomKey key, const Recipe<arithmetic::Float64>& recipe);
// Of float16 there are 1024 values, of bfloat16 128: a table.
SourcePtr make_float_source(RandomKey key, const Recipe<arithmetic::Float16>& recipe);
SourcePtr make_float_source(RandomKey key, const Recipe<arithmetic::Bfloat16>& recipe);

SourcePtr make_bits_source(RandomKey key, DType dtype);
SourcePtr make_bernoulli_source(RandomKey key, float p);
SourcePtr make_randint_source(RandomKey key, const random::RandInt& of, DType dtype);

}  // namespace shardwise
