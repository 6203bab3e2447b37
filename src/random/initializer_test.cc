#include "shardwise/initializer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>

#include "random/random_testing.h"
#include "testing/dispatch_testing.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using random_testing::values;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::uint32_t>;

Words first_four(const Initializer& initializer) {
  Words out = values<std::uint32_t>(initializer, {4, 8}, DType::kFloat32);
  out.resize(4);
  return out;
}

// Keras 3.15.1, seed 42, shape (4, 8), eager.
TEST(Initializer, GoldenValuesOfKeras) {
  EXPECT_EQ(first_four(glorot_uniform({.seed = 42})), (Words{0x3dc1450e, 0xbf1d49c6, 0xbe2b5b50, 0x3e997a5e}));
  EXPECT_EQ(first_four(random_normal({.seed = 42})), (Words{0x3c09ab87, 0xbd9a9a35, 0xbc76a772, 0x3ce5050f}));
  EXPECT_EQ(first_four(truncated_normal({.seed = 42})), (Words{0x3c0359c6, 0xbd8c4e4a, 0xbc6b1c2d, 0x3cd98807}));
  EXPECT_EQ(first_four(random_uniform({.seed = 42})), (Words{0x3bdaa8e7, 0xbd31f387, 0xbc41de33, 0x3cada3fa}));
  EXPECT_EQ(first_four(variance_scaling({.seed = 42})), (Words{0x3dbaa835, 0xbf476202, 0xbe270d7a, 0x3e9a8ffd}));
  auto small = values<std::uint16_t>(random_normal({.seed = 42}), {4, 8}, DType::kBfloat16);
  small.resize(4);
  EXPECT_THAT(small, ElementsAre(0x3c84, 0x3cf0, 0x3b50, 0xbe14));
}

TEST(Initializer, ConstantsInEveryDtype) {
  EXPECT_THAT(values<std::int64_t>(constant(-7.9), {5}, DType::kInt64), Each(-7));
  EXPECT_THAT(values<std::uint8_t>(ones(), {5}, DType::kBool), Each(1));
  EXPECT_THAT(values<std::uint8_t>(ones(), {5}, DType::kFloat8E4m3fn), Each(0x38));
  EXPECT_THAT(values<std::uint16_t>(ones(), {5}, DType::kBfloat16), Each(0x3f80));
  EXPECT_THAT(values<std::complex<float>>(ones(), {2}, DType::kComplex64), Each(std::complex<float>(1, 0)));
  EXPECT_THAT(values<double>(constant(0.1), {3, 3}, DType::kFloat64), Each(0.1));
  EXPECT_THAT(values<float>(zeros(), {0, 3}, DType::kFloat32), ElementsAre());
  EXPECT_EQ(check(constant(300), {1}, DType::kInt8).code(), Code::kInvalidArgument);
  EXPECT_EQ(check(constant(0.5), {1}, DType::kFloat8E5m2).code(), Code::kUnimplemented);
  EXPECT_EQ(check(ones(), {2}, DType::kInt4).code(), Code::kUnimplemented);
}

TEST(Initializer, ConstantsOfAnySizeAtAnyAddress) {
  constexpr std::size_t kMost = 700'000;
  const Generator thirds = make_generator(constant(1.0 / 3), {kMost}, DType::kFloat32).value_or_throw();
  const auto third = values<std::array<std::byte, 4>>(constant(1.0 / 3), {1}, DType::kFloat32)[0];
  dispatch_testing::for_each_target([&] {
    std::vector<std::byte> out(kMost * 4 + 64);
    for (const std::size_t at : {0u, 1u, 3u, 4u, 15u, 16u, 63u}) {
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{77}, kMost - 1, kMost}) {
        std::fill(out.begin(), out.end(), std::byte{0xee});
        ASSERT_TRUE(thirds.generate_range(0, std::span(out).subspan(at, count * 4)).ok());
        for (std::size_t i = 0; i < count * 4; ++i) ASSERT_EQ(out[at + i], third[i % 4]) << at << " + " << i;
        ASSERT_TRUE(at == 0 || out[at - 1] == std::byte{0xee});
        ASSERT_EQ(out[at + count * 4], std::byte{0xee});
      }
    }
  });
}

TEST(Initializer, Identity) {
  EXPECT_THAT(values<float>(identity(-2), {2, 3}, DType::kFloat32), ElementsAre(-2, 0, 0, 0, -2, 0));
  EXPECT_TRUE(std::signbit(values<float>(identity(-2), {2, 3}, DType::kFloat32)[1]));
  EXPECT_THAT(values<float>(identity(), {3, 2}, DType::kFloat32), ElementsAre(1, 0, 0, 1, 0, 0));
  EXPECT_THAT(check(identity(), {2, 2, 2}, DType::kFloat32).message(),
              HasSubstr("Identity matrix initializer can only be used for 2D matrices. Received: shape=(2, 2, 2) of "
                        "rank 3."));
}

TEST(Initializer, OrthogonalIsOrthogonalAndChargesItsBytes) {
  const Initializer initializer = orthogonal({.gain = 2, .seed = 4});
  EXPECT_TRUE(initializer.needs_whole_tensor());
  for (const Shape& shape : {Shape{30, 20}, Shape{20, 30}, Shape{3, 5, 2, 7}}) {
    const auto q = values<double>(initializer, shape, DType::kFloat64);
    const auto columns = static_cast<std::size_t>(shape.back());
    const std::size_t rows = q.size() / columns;
    const bool tall = rows >= columns;
    const std::size_t vectors = tall ? columns : rows;
    for (std::size_t a = 0; a < vectors; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        double sum = 0;
        for (std::size_t i = 0; i < q.size() / vectors; ++i) {
          sum += tall ? q[i * columns + a] * q[i * columns + b] : q[a * columns + i] * q[b * columns + i];
        }
        EXPECT_NEAR(sum, a == b ? 4 : 0, 1e-12);
      }
    }
  }
  EXPECT_GE(initializer.host_bytes({300, 200}, DType::kFloat32), 300u * 200 * 4);
  EXPECT_LT(initializer.host_bytes({300, 200}, DType::kFloat32), 2u * 300 * 200 * 4);
  EXPECT_EQ(glorot_uniform({.seed = 1}).host_bytes({300, 200}, DType::kFloat32), 0u);
  EXPECT_THAT(check(initializer, {7}, DType::kFloat32).message(), HasSubstr("at least two-dimensional"));
  EXPECT_THAT(check(initializer, {7, 7}, DType::kBfloat16).message(), HasSubstr("Unsupported dtype bfloat16"));
}

TEST(Initializer, ArraysAreCastAndMustHaveTheShape) {
  const std::vector<float> given = {1.5f, -2.5f, 3.25f, 65536.0f};
  const auto bytes = std::as_bytes(std::span(given));
  const Initializer initializer = array({2, 2}, DType::kFloat32, {bytes.begin(), bytes.end()});
  EXPECT_EQ(values<float>(initializer, {2, 2}, DType::kFloat32), given);
  EXPECT_THAT(values<std::int32_t>(initializer, {2, 2}, DType::kInt32), ElementsAre(1, -2, 3, 65536));
  EXPECT_THAT(values<std::uint16_t>(initializer, {2, 2}, DType::kBfloat16),
              ElementsAre(0x3fc0, 0xc020, 0x4050, 0x4780));
  EXPECT_THAT(check(initializer, {4}, DType::kFloat32).message(),
              HasSubstr("Expected `shape` to be (2, 2) for direct tensor as initializer. Received shape=(4,)"));
}

TEST(Initializer, UsersFunctions) {
  int calls = 0;
  const Initializer whole = custom("Mine", [&](const Shape&, DType, std::span<std::byte> out) {
    ++calls;
    std::fill(out.begin(), out.end(), std::byte{7});
    return Status();
  });
  EXPECT_TRUE(whole.needs_whole_tensor());
  EXPECT_EQ(whole.host_bytes({4, 4}, DType::kInt8), 16u);
  const Generator generator = make_generator(whole, {4, 4}, DType::kInt8).value_or_throw();
  EXPECT_THAT(values<std::int8_t>(generator), Each(7));
  EXPECT_THAT(random_testing::range_of<std::int8_t>(generator, 3, 5), Each(7));
  EXPECT_EQ(calls, 1);
  const Initializer failing =
      custom("Mine", [](const Shape&, DType, std::span<std::byte>) { return unavailable("not today"); });
  EXPECT_EQ(make_generator(failing, {4}, DType::kInt8).status().code(), Code::kUnavailable);
  EXPECT_EQ(whole, whole);
  EXPECT_FALSE(whole == failing);
  EXPECT_EQ(glorot_uniform({.seed = 1}), glorot_uniform({.seed = 1}));
  EXPECT_FALSE(glorot_uniform({.seed = 1}) == glorot_uniform({.seed = 2}));
}

TEST(Initializer, Seeds) {
  EXPECT_THAT(check(glorot_uniform(), {2, 2}, DType::kFloat32).message(), HasSubstr("no seed"));
  EXPECT_THAT(check(glorot_uniform({.seed = -1}), {2, 2}, DType::kFloat32).message(), HasSubstr("out of bounds"));
  EXPECT_EQ(check(glorot_uniform({.seed = std::int64_t{1} << 32}), {2, 2}, DType::kFloat32).code(),
            Code::kInvalidArgument);
  PythonRandom python(1337);
  EXPECT_EQ(zeros().with_default_seed(python), zeros());
  EXPECT_EQ(random_normal({.seed = 3}).with_default_seed(python), random_normal({.seed = 3}));
  EXPECT_EQ(random_normal().with_default_seed(python), random_normal({.seed = 663307073}));
  EXPECT_EQ(glorot_normal().with_default_seed(python), glorot_normal({.seed = 993786079}));
  SeedGenerator seeds(5);
  seeds.next();
  EXPECT_EQ(he_normal({.seed = seeds.next()}).seed().to_string(), "[5, 1]");
}

TEST(Initializer, EinsumDenseKeepsTheSeedAndSetsAxes) {
  const Initializer made = glorot_uniform({.seed = 9}).with_axes({0}, {1, 2});
  EXPECT_EQ(made.to_string(), "GlorotUniform(seed=9, input_axes=(0), output_axes=(1, 2))");
  EXPECT_EQ(made, glorot_uniform({.seed = 9, .input_axes = std::vector{0}, .output_axes = std::vector{1, 2}}));
  EXPECT_EQ(zeros().with_axes({0}, {1}), zeros());
}

TEST(Initializer, Fans) {
  const auto fans = [](const Shape& shape, auto... axes) { return compute_fans(shape, axes...).value_or_throw(); };
  EXPECT_EQ(fans({}), (Fans{1, 1}));
  EXPECT_EQ(fans({7}), (Fans{7, 7}));
  EXPECT_EQ(fans({7, 5}), (Fans{7, 5}));
  EXPECT_EQ(fans({3, 3, 16, 32}), (Fans{144, 288}));
  EXPECT_EQ(fans({3, 4, 5}, std::vector{0}, std::vector{1, -1}), (Fans{3, 20}));
  EXPECT_EQ(compute_fans({3}, std::vector{1}, std::vector{0}).status().code(), Code::kInvalidArgument);
}

TEST(Initializer, KerasCompilesFrom250MiB) {
  // Of 8 devices: 8,192,000 elements.
  EXPECT_EQ(keras_rounding({8192, 1000}, 8), Rounding::kJit);
  EXPECT_EQ(keras_rounding({8191999}, 8), Rounding::kEager);
  EXPECT_EQ(keras_rounding({65535999}, 1), Rounding::kEager);
  EXPECT_EQ(keras_rounding({65536000}, 1), Rounding::kJit);
  EXPECT_EQ(keras_rounding({std::int64_t{1} << 62}, 8), Rounding::kJit);
}

std::string refusal(const InitializerConfig& config) {
  const auto made = make_initializer(config);
  EXPECT_FALSE(made.ok()) << made->to_string();
  return made.status().message();
}

TEST(MakeInitializer, KerasNamesAndConfigs) {
  EXPECT_EQ(*make_initializer("uniform"), random_uniform());
  EXPECT_EQ(*make_initializer("zero"), zeros());
  EXPECT_EQ(*make_initializer("he_normal"), he_normal());
  EXPECT_EQ(*make_initializer("STFTInitializer"), stft());
  EXPECT_EQ(*make_initializer({"RandomNormal", {{"stddev", 0.02}, {"seed", std::int64_t{42}}}}),
            random_normal({.stddev = 0.02, .seed = 42}));
  EXPECT_EQ(
      *make_initializer({"VarianceScaling",
                         {{"scale", std::int64_t{2}}, {"mode", "fan_out"}, {"distribution", "normal"}, {"seed", {}}}}),
      variance_scaling({.scale = 2, .mode = VarianceMode::kFanOut}));
  EXPECT_EQ(*make_initializer({"HeNormal", {{"seed", std::vector<std::int64_t>{4, 1}}}}),
            he_normal({.seed = RandomKey{4, 1}}));
  EXPECT_EQ(make_initializer("he_normal")->to_string(), "HeNormal()");
  EXPECT_EQ(variance_scaling({.scale = 2, .distribution = VarianceDistribution::kUniform, .seed = 1}).to_string(),
            "VarianceScaling(scale=2, distribution=uniform, seed=1)");
}

TEST(MakeInitializer, RefusesWithKerasWords) {
  EXPECT_THAT(refusal({"Nope", {}}), HasSubstr("Could not interpret initializer identifier: Nope"));
  EXPECT_THAT(refusal({"RandomNormal", {{"std", 1.0}}}),
              HasSubstr("RandomNormal.__init__() got an unexpected keyword argument 'std'"));
  EXPECT_THAT(refusal({"RandomNormal", {{"seed", "a"}}}),
              HasSubstr("`seed` argument should be an instance of `keras.random.SeedGenerator()` or an integer. "
                        "Received: seed=a"));
  EXPECT_THAT(refusal({"VarianceScaling", {{"scale", -1.0}}}),
              HasSubstr("Argument `scale` must be positive float. Received: scale=-1.0"));
  EXPECT_THAT(refusal({"VarianceScaling", {{"mode", "x"}}}), HasSubstr("Invalid `mode` argument: x."));
  EXPECT_THAT(refusal({"VarianceScaling", {{"distribution", "x"}}}), HasSubstr("Invalid `distribution` argument: x."));
  EXPECT_THAT(refusal({"STFT", {{"side", "x"}}}), HasSubstr("side should be 'real' or 'imag', not x"));
  EXPECT_THAT(refusal({"STFT", {{"window", "x"}}}), HasSubstr("Unknown window type: 'x'"));
  EXPECT_THAT(refusal({"Constant", {{"value", "x"}}}), HasSubstr("must be a number"));
  EXPECT_THAT(check(random_normal({.seed = 1}), {2}, DType::kInt32).message(), HasSubstr("floating point"));
}

}  // namespace
}  // namespace shardwise
