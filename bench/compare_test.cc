// Verdicts of two records, and what is refused.
#include "bench/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bench/record.h"

namespace convoy::bench {
namespace {

Row timed(const char* problem, double median_us, double spread_us) {
  Row row;
  row.problem = problem;
  row.impl = "convoy";
  row.median_us = median_us;
  row.p10_us = median_us - spread_us / 2;
  row.p90_us = median_us + spread_us / 2;
  return row;
}

std::string text(const std::vector<Row>& rows, const char* machine = "box") {
  Circumstances c;
  c.machine = machine;
  return record_text(record(c, rows));
}

Result<Comparison> compared(const std::string& a, const std::string& b) {
  return compare(a, b, "a.json", "b.json");
}

TEST(JudgeChange, NeedsMoreThanTheNoise) {
  EXPECT_EQ(judge_change(10, 11, 1), Change::kSame);
  EXPECT_EQ(judge_change(10, 11.1, 1), Change::kSlower);
  EXPECT_EQ(judge_change(10, 8.9, 1), Change::kFaster);
  EXPECT_EQ(judge_change(10, 10, 0), Change::kSame);
  EXPECT_EQ(judge_change(10, std::nan(""), 1), Change::kGone);
  EXPECT_EQ(judge_change(std::nan(""), 10, 1), Change::kNew);
}

TEST(Compare, TheNoisierSideDecides) {
  const auto quiet = text({timed("p", 100, 2)}), loud = text({timed("p", 110, 20)});
  const auto r = compared(quiet, loud);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->rows[0].change, Change::kSame);
  EXPECT_DOUBLE_EQ(r->rows[0].noise_us, 20);
}

TEST(Compare, LargestSlowDownFirst) {
  const auto a = text({timed("p", 100, 1), timed("q", 100, 1), timed("r", 100, 1)});
  const auto b = text({timed("p", 50, 1), timed("q", 120, 1), timed("r", 300, 1)});
  const auto c = compared(a, b);
  ASSERT_TRUE(c.ok());
  ASSERT_EQ(c->rows.size(), 3U);
  EXPECT_EQ(c->rows[0].problem, "r");
  EXPECT_NEAR(c->rows[0].percent(), 200, 1e-9);
  EXPECT_EQ(c->rows[1].change, Change::kSlower);
  EXPECT_EQ(c->rows[2].change, Change::kFaster);
}

TEST(Compare, AnotherImplementationIsNewOrGone) {
  Row pack = timed("p", 10, 1);
  pack.impl = "convoy+pack";
  const auto one = text({timed("p", 10, 1)}), two = text({timed("p", 10, 1), pack});
  EXPECT_EQ(compared(one, two)->rows[1].change, Change::kNew);
  EXPECT_EQ(compared(two, one)->rows[1].change, Change::kGone);
}

TEST(Compare, RefusesAnotherMachineOrSuite) {
  const auto a = text({timed("p", 1, 0)});
  const auto machine = compared(a, text({timed("p", 1, 0)}, "other"));
  ASSERT_FALSE(machine.ok());
  EXPECT_NE(machine.status().message().find("'other'"), std::string::npos);
  const auto suite = compared(a, text({timed("p", 1, 0), timed("q", 1, 0)}));
  ASSERT_FALSE(suite.ok());
  EXPECT_EQ(suite.status().code(), Code::kInvalid);
  EXPECT_NE(suite.status().message().find("'q' is in b.json only"), std::string::npos);
}

TEST(Compare, RefusesWhatIsNoRecordInOneLine) {
  const auto good = text({timed("p", 1, 0)});
  for (const char* bad :
       {"", "{", "[]", "3", "{}", R"({"schema":2,"machine":"box","rows":[]})",
        R"({"schema":"1","machine":"box","rows":[]})", R"({"schema":1,"machine":"box"})",
        R"({"schema":1,"machine":"box","rows":[{"problem":"p"}]})",
        R"({"schema":1,"machine":"box","rows":3})", R"({"schema":1,"machine":3,"rows":[]})",
        R"({"schema":1,"machine":"box","rows":[3]})",
        R"({"schema":1,"machine":"box","rows":[{"problem":"p","cache":"warm","impl":"convoy",
            "median_us":-1,"p10_us":1,"p90_us":1}]})"}) {
    const auto r = compared(good, bad);
    ASSERT_FALSE(r.ok()) << bad;
    EXPECT_EQ(r.status().code(), Code::kInvalid) << bad;
    EXPECT_EQ(r.status().message().rfind("record b.json: ", 0), 0U) << r.status().message();
    EXPECT_EQ(r.status().message().find('\n'), std::string::npos) << bad;
    EXPECT_EQ(r.status().message().find("exception"), std::string::npos) << r.status().message();
  }
}

TEST(Compare, RefusesARowThatOccursTwice) {
  const auto twice = text({timed("p", 1, 0), timed("p", 2, 0)});
  EXPECT_FALSE(compared(twice, twice).ok());
}

TEST(Compare, AFailedRowHasNoTime) {
  Row failed = timed("p", 1, 0);
  failed.median_us = failed.p10_us = failed.p90_us = std::nan("");
  const auto r = compared(text({timed("p", 1, 0)}), text({failed}));
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->rows[0].change, Change::kGone);
}

}  // namespace
}  // namespace convoy::bench
