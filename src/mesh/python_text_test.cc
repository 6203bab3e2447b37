#include "mesh/python_text.h"

#include <gtest/gtest.h>

namespace shardwise {
namespace {

// Expected texts were printed by Python's repr().
TEST(PythonText, ReprQuotesAndEscapes) {
  EXPECT_EQ(python_repr("a/b"), "'a/b'");
  EXPECT_EQ(python_repr("it's"), "\"it's\"");
  EXPECT_EQ(python_repr("it's \"x\""), "'it\\'s \"x\"'");
  EXPECT_EQ(python_repr("\\d\n\t\x01\x7f"), "'\\\\d\\n\\t\\x01\\x7f'");
  EXPECT_EQ(python_repr("caf\xc3\xa9"), "'caf\xc3\xa9'");
  EXPECT_EQ(python_repr("\xc2\xa0\xe2\x80\x8b"), "'\\xa0\\u200b'");
  EXPECT_EQ(python_repr("\xff"), "'\\xff'");
}

TEST(PythonText, SetsAndLists) {
  EXPECT_EQ(python_set({}), "set()");
  EXPECT_EQ(python_set({"a", "b"}), "{'a', 'b'}");
  EXPECT_EQ(python_list({}), "[]");
  EXPECT_EQ(python_list({"a", "b"}), "['a', 'b']");
}

TEST(PythonText, Utf8IsStrict) {
  EXPECT_EQ(decode_utf8("\xf0\x9f\x98\x80", 0).value, 0x1f600u);
  EXPECT_EQ(decode_utf8("x\xe2\x82\xac", 1).length, 3u);
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc1\x81", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3", "\xe2\x82", "\xc3\x28", "\xff"}) {
    EXPECT_EQ(decode_utf8(bad, 0).length, 0u) << bad;
  }
}

TEST(PythonText, Utf8RoundTrips) {
  for (char32_t c = 0; c < 0x110000; c += 7) {
    if (c >= 0xd800 && c < 0xe000) continue;
    std::string text;
    append_utf8(text, c);
    const CodePoint point = decode_utf8(text, 0);
    ASSERT_EQ(point.value, c);
    ASSERT_EQ(point.length, text.size());
  }
}

}  // namespace
}  // namespace shardwise
