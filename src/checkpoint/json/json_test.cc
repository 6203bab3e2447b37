#include "checkpoint/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "testing/matchers.h"

namespace shardwise::json {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Writes down what it hears; fails at the key "stop".
class Recorder final : public Events {
 public:
  Status on_key(std::string key) override {
    text += key + ":";
    return key == "stop" ? cancelled("enough") : Status();
  }
  Status on_scalar(Scalar value) override {
    switch (value.type) {
      case Type::kString:
        text += format("'{}' ", value.text);
        break;
      case Type::kUnsigned:
        text += format("u{} ", value.integer);
        break;
      case Type::kNumber:
        text += format("n{} ", value.number);
        break;
      default:
        text += format("{} ", describe(value.type));
    }
    return {};
  }
  Status on_begin(Type type) override {
    text += type == Type::kObject ? "{ " : "[ ";
    return {};
  }
  Status on_end(Type type) override {
    text += type == Type::kObject ? "} " : "] ";
    return {};
  }

  std::string text;
};

std::string heard(std::string_view text) {
  Recorder events;
  EXPECT_THAT(parse(text, events), IsOk()) << text;
  return events.text;
}

Status refusal(std::string_view text) {
  Recorder events;
  return parse(text, events);
}

TEST(Json, TellsEverythingInOrder) {
  EXPECT_EQ(heard(" {\"a\":[1,-1,2.5,\"x\"],\"b\":{\"c\":null,\"d\":true}}\n"),
            "{ a:[ u1 n-1 n2.5 'x' ] b:{ c:null d:a boolean } } ");
  EXPECT_EQ(heard("3"), "u3 ");
  EXPECT_EQ(heard("[]"), "[ ] ");
  EXPECT_EQ(heard(R"(["\u00e9\n\u0000"])"), std::string("[ '\xc3\xa9\n\0' ] ", 11));
}

TEST(Json, UnsignedIsWhatWasWrittenAsOne) {
  EXPECT_EQ(heard("[0,18446744073709551615]"), "[ u0 u18446744073709551615 ] ");
  EXPECT_EQ(heard("[18446744073709551616,1e2,1.0,-0,-0.0]"), "[ n1.8446744073709552e+19 n100 n1 n0 n-0 ] ");
}

TEST(Json, HasNoMoreThanItsLevels) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_THAT(refusal(nested(kMaxDepth)), IsOk());
  EXPECT_THAT(refusal(nested(kMaxDepth + 1)), FailsWith(Code::kDataLoss, "nested deeper than 127 levels"));
  EXPECT_THAT(refusal(std::string(10'000'000, '[')), FailsWith(Code::kDataLoss, "nested deeper"));
  EXPECT_THAT(refusal("[" + std::string(1000, ' ') + "[],[],[[]]]"), IsOk());
}

TEST(Json, RefusesWhatIsNotOneDocument) {
  for (const char* text :
       {"",     " ",  "{",  "[1", "{}{}", "1 2",   "[1,]",     "{\"a\"}",     "{a:1}",   "'a'",      "nul",
        "01",   "+1", ".5", "1.", "NaN",  "//\n1", "\"\x01\"", "\"\\ud800\"", "\"\\x\"", "\"\xff\"", "\"\xed\xa0\x80\"",
        "1e999"}) {
    EXPECT_THAT(refusal(text), FailsWith(Code::kDataLoss, "not valid JSON at byte")) << text;
  }
  EXPECT_THAT(refusal("\xef\xbb\xbf{}"), FailsWith(Code::kDataLoss, "byte-order mark"));
  EXPECT_THAT(refusal(std::string_view("{}\0", 3)), FailsWith(Code::kDataLoss, "at byte 2: a NUL"));
  EXPECT_THAT(refusal(std::string_view("{}\0{}", 5)), FailsWith(Code::kDataLoss, "at byte 2: a NUL"));
}

TEST(Json, ReportsWithoutTheParsersPrefixAndInPrintableText) {
  EXPECT_THAT(refusal("{\"a\n\x1b[31m\":"),
              FailsWith(Code::kDataLoss,
                        AllOf(Not(HasSubstr("json.exception")), Not(HasSubstr("\x1b")), Not(HasSubstr("\n")))));
  EXPECT_LT(refusal("\"" + std::string(100'000, 'x')).message().size(), 400u);
}

TEST(Json, StopsWhenToldTo) {
  Recorder events;
  EXPECT_EQ(parse("{\"a\":1,\"stop\":2,\"b\":3} and no JSON", events), cancelled("enough"));
  EXPECT_EQ(events.text, "{ a:u1 stop:");
}

}  // namespace
}  // namespace shardwise::json
