#include <gtest/gtest.h>

#include <functional>

#include "base/format.h"
#include "shardwise/catalog.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

// Two raw tensors, a chunked one and an empty one.
Catalog good() {
  Catalog catalog{.format = "safetensors", .path = "m"};
  catalog.files.push_back({.path = "m", .size = 100});
  catalog.encodings.push_back({.block_shape = {2}});
  catalog.tensors.push_back({.name = "a", .shape = {2, 2}, .extents = {{.range = {8, 24}, .box = Box::whole({2, 2})}}});
  catalog.tensors.push_back(
      {.name = "b", .dtype = DType::kFloat4E2m1fn, .shape = {6}, .extents = {{.range = {24, 27}, .box = {{0}, {6}}}}});
  catalog.tensors.push_back({.name = "c",
                             .shape = {5},
                             .extents = {{.encoding = 0, .range = {30, 40}, .box = {{0}, {2}}},
                                         {.file = Extent::kNoFile, .box = {{2}, {2}}},
                                         {.encoding = 0, .range = {40, 43}, .box = {{4}, {1}}}}});
  catalog.tensors.push_back({.name = "d", .shape = {2, 0}});
  return catalog;
}

TEST(Validate, AcceptsWhatReadersPromise) {
  EXPECT_THAT(validate(good()), IsOk());
  EXPECT_THAT(validate(Catalog{}), IsOk());
}

TEST(Validate, NamesWhatIsWrong) {
  struct Case {
    std::function<void(Catalog&)> damage;
    const char* message;
  };
  const std::vector<Case> cases = {
      {[](Catalog& c) { c.tensors[1].name = "a"; }, "m: tensor 'a' is there twice"},
      {[](Catalog& c) { c.tensors[1].name = std::string("b\0c", 3); }, "holds a NUL"},
      {[](Catalog& c) { c.tensors[0].extents[0].file = 1; }, "tensor 'a': block [0:2, 0:2]: it lies in file 1 of 1"},
      {[](Catalog& c) { c.tensors[0].extents[0].encoding = 1; }, "it has encoding 1 of 1"},
      {[](Catalog& c) { c.files[0].size = 23; }, "its bytes [8, 24) leave the 23 bytes of m"},
      {[](Catalog& c) {
         c.tensors[0].extents[0].range = {24, 8};
       },
       "leave the 100 bytes"},
      {[](Catalog& c) {
         c.tensors[0].extents[0].range = {8, 23};
       },
       "take 128 bits but bytes [8, 23) hold 15 bytes"},
      {[](Catalog& c) { c.tensors[0].extents[0].box.extent = {2}; }, "leaves the shape (2, 2)"},
      {[](Catalog& c) {
         c.tensors[0].extents[0].box.origin = {0, 1};
       },
       "leaves the shape (2, 2)"},
      {[](Catalog& c) {
         c.tensors[0].extents[0].box.extent = {2, 0};
       },
       "it has no elements"},
      {[](Catalog& c) { c.tensors[0].extents.clear(); }, "0 blocks provide 0 of 4 elements"},
      {[](Catalog& c) { c.tensors[0].extents.push_back(c.tensors[0].extents[0]); }, "overlap"},
      {[](Catalog& c) {
         c.tensors[0].shape = {-1, 2};
       },
       "negative extent"},
      {[](Catalog& c) {
         c.tensors[0].shape = {std::int64_t{1} << 62, 4};
       },
       "tensor 'a': shape"},
      {[](Catalog& c) { c.tensors[0].fill = "xy"; }, "its fill value has 2 bytes"},
      {[](Catalog& c) { c.tensors[1].shape = {5}; }, "do not fill whole bytes"},
      {[](Catalog& c) { c.tensors[2].extents.pop_back(); }, "tensor 'c': its 2 blocks provide 4 of 5 elements"},
      {[](Catalog& c) { c.tensors[2].extents[2].box.origin = {3}; },
       "tensor 'c': two blocks, [2:4] and [3:4], overlap"},
      {[](Catalog& c) {
         c.tensors[2].extents[1].range = {1, 2};
       },
       "it has bytes [1, 2) of no file"},
      {[](Catalog& c) { c.encodings[0].block_shape = {1}; }, "does not fit its stored block of shape (1,)"},
      {[](Catalog& c) {
         c.tensors[3].extents.push_back({.box = Box::whole({2, 0})});
       },
       "it has no elements"},
      {[](Catalog& c) {
         c.files[0].member = {9, 3};
       },
       "runs backwards, from 9 to 3"},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Catalog catalog = good();
    cases[i].damage(catalog);
    EXPECT_THAT(validate(catalog), FailsWith(Code::kDataLoss, cases[i].message)) << "case " << i;
  }
}

}  // namespace
}  // namespace shardwise
