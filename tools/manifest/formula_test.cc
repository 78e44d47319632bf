// Formulas: values, precedence, and every way to be refused.
#include "manifest/formula.h"

#include <gtest/gtest.h>

namespace convoy::manifest {
namespace {

const Letters kLetters = {{"N", 3}, {"H", 10}, {"pad_h_begin", 2}, {"zero", 0}, {"low", INT64_MIN}};

int64_t value(std::string_view text) {
  const Result<Formula> formula = Formula::parse(text);
  EXPECT_TRUE(formula.ok()) << formula.status().message();
  if (!formula) return -1;
  const Result<int64_t> value = formula->evaluate(kLetters);
  EXPECT_TRUE(value.ok()) << value.status().message();
  return value ? *value : -1;
}

std::string fault(std::string_view text) {
  const Result<Formula> formula = Formula::parse(text);
  if (!formula) return formula.status().message();
  const Result<int64_t> value = formula->evaluate(kLetters);
  return value ? "no fault" : value.status().message();
}

TEST(Formula, Arithmetic) {
  EXPECT_EQ(value("1 + 2*3"), 7);
  EXPECT_EQ(value("(1 + 2)*3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("2 - -3"), 5);
  EXPECT_EQ(value("-N*2"), -6);
  EXPECT_EQ(value("H+2*pad_h_begin"), 14);
  EXPECT_EQ(value("9223372036854775807"), INT64_MAX);
}

TEST(Formula, DivisionsRoundDownAndUp) {
  EXPECT_EQ(value("floor_div(7, 2)"), 3);
  EXPECT_EQ(value("floor_div(-7, 2)"), -4);
  EXPECT_EQ(value("floor_div(-8, 2)"), -4);
  EXPECT_EQ(value("ceil_div(7, 2)"), 4);
  EXPECT_EQ(value("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(value("ceil_div(8, 2)"), 4);
  EXPECT_EQ(value("ceil_div(low, 1)"), INT64_MIN);
}

TEST(Formula, MinMaxAndLogic) {
  EXPECT_EQ(value("min(4, N, 9)"), 3);
  EXPECT_EQ(value("max(4, N, 9)"), 9);
  EXPECT_EQ(value("1 < 2 and 2 <= 2 and 3 > 2 and 2 >= 2 and 1 == 1 and 1 != 2"), 1);
  EXPECT_EQ(value("1 > 2 or 2 < 1"), 0);
  EXPECT_EQ(value("1 or 0 and 0"), 1);
  EXPECT_EQ(value("N == 3 and 5"), 1);
}

TEST(Formula, AndOrStopEarly) {
  EXPECT_EQ(value("zero >= 1 and floor_div(N, zero) > 0"), 0);
  EXPECT_EQ(value("zero == 0 or floor_div(N, zero) > 0"), 1);
}

TEST(Formula, RefusesWhatItCannotEvaluate) {
  EXPECT_EQ(fault("N + X"),
            "formula 'N + X': unknown letter 'X'; use the letters of this rank and pass");
  EXPECT_EQ(fault("zero and X"),
            "formula 'zero and X': unknown letter 'X'; use the letters of this rank and pass");
  EXPECT_EQ(fault("floor_div(N, zero)"),
            "formula 'floor_div(N, zero)': divisor 0 must be 1 or more");
  EXPECT_EQ(fault("ceil_div(N, -1)"), "formula 'ceil_div(N, -1)': divisor -1 must be 1 or more");
}

TEST(Formula, RefusesOverflow) {
  for (const char* text :
       {"9223372036854775807 + 1", "low - 1", "-low", "low*2", "low*-1", "4294967296*4294967296"}) {
    EXPECT_NE(fault(text).find("exceeds 2^63 - 1"), std::string::npos) << text;
  }
  EXPECT_NE(fault("9223372036854775808").find("an integer below 2^63 expected"), std::string::npos);
}

TEST(Formula, RefusesBrokenText) {
  EXPECT_EQ(fault("1 +"),
            "formula '1 +': a number, a letter or '(' expected before the end; correct it");
  EXPECT_EQ(fault("(1"), "formula '(1': ')' expected before the end; correct it");
  EXPECT_EQ(fault("1 2"), "formula '1 2': an operator expected before '2'; correct it");
  EXPECT_EQ(fault("min(1)"),
            "formula 'min(1)': two or more arguments expected before ')'; correct it");
  EXPECT_EQ(fault("floor_div(1, 2, 3)"),
            "formula 'floor_div(1, 2, 3)': two arguments expected before ')'; correct it");
  for (const char* text : {"", "min", "N / 2", "N % 2", "1 = 1", "1 < 2 < 3", "and", "3x", "1.5",
                           "min(1,", ")", "N[0]", "\xff", "or or"}) {
    EXPECT_NE(fault(text), "no fault") << text;
  }
}

TEST(Formula, BoundsNestingAndLength) {
  EXPECT_NE(fault(std::string(500, '(') + "1" + std::string(500, ')')).find("nesting"),
            std::string::npos);
  EXPECT_NE(fault(std::string(900, '-') + "1").find("nesting"), std::string::npos);
  EXPECT_NE(fault(std::string(100000, '1')).find("shorten it"), std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 900; ++i)
    sum += "+1";
  EXPECT_EQ(value(sum), 901);
}

}  // namespace
}  // namespace convoy::manifest
