// GoogleMock matchers for Status and Result<T>. Header only; needs gmock.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "shardwise/status.h"

namespace shardwise {

// How GoogleTest prints the values that these matchers fail on.
inline void PrintTo(const Status& status, std::ostream* out) { *out << status.to_string(); }
template <typename T>
void PrintTo(const Result<T>& result, std::ostream* out) {
  *out << (result.ok() ? std::string("OK, with a value") : result.status().to_string());
}

namespace matchers_internal {

inline const Status& status_of(const Status& status) { return status; }
template <typename T>
const Status& status_of(const Result<T>& result) {
  return result.status();
}

// Text stands for "contains this text"; anything else is a matcher already.
inline ::testing::Matcher<const std::string&> message_matcher(const char* part) { return ::testing::HasSubstr(part); }
inline ::testing::Matcher<const std::string&> message_matcher(const std::string& part) {
  return ::testing::HasSubstr(part);
}
template <typename M>
::testing::Matcher<const std::string&> message_matcher(const M& matcher) {
  return ::testing::SafeMatcherCast<const std::string&>(matcher);
}

}  // namespace matchers_internal

// EXPECT_THAT(open_file(path), IsOk());
MATCHER(IsOk, negation ? "is an error" : "is OK") { return matchers_internal::status_of(arg).ok(); }

// A Result that is OK and whose value matches: EXPECT_THAT(element_count(shape), IsOkAnd(Eq(6u)));
MATCHER_P(IsOkAnd, inner,
          "is OK and its value " +
              ::testing::DescribeMatcher<const std::remove_cvref_t<decltype(*std::declval<arg_type>())>&>(inner,
                                                                                                          negation)) {
  if (!arg.ok()) return false;
  return ::testing::ExplainMatchResult(inner, *arg, result_listener);
}

// EXPECT_THAT(read(file), FailsWith(Code::kDataLoss));
MATCHER_P(FailsWith, code,
          std::string(negation ? "does not fail with " : "fails with ") + std::string(shardwise::to_string(code))) {
  const Status& status = matchers_internal::status_of(arg);
  return !status.ok() && status.code() == code;
}

// EXPECT_THAT(read(file), FailsWith(Code::kDataLoss, "ends at 64")); or with any matcher of the message as second.
MATCHER_P2(FailsWith, code, message,
           std::string(negation ? "does not fail with " : "fails with ") + std::string(shardwise::to_string(code)) +
               " and a message that " +
               ::testing::DescribeMatcher<const std::string&>(matchers_internal::message_matcher(message))) {
  const Status& status = matchers_internal::status_of(arg);
  return !status.ok() && status.code() == code &&
         ::testing::Matches(matchers_internal::message_matcher(message))(status.message());
}

}  // namespace shardwise
