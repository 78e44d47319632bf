// The YAML reader: plain trees with lines, and one clear fault for everything else.
#include "manifest/value.h"

#include <gtest/gtest.h>

namespace convoy::manifest {
namespace {

std::vector<Fault> faults(std::string_view text) {
  std::vector<Fault> out;
  const std::optional<Value> value = parse_yaml(text, {"file.yaml", out});
  EXPECT_EQ(value.has_value(), out.empty());
  return out;
}

void expect_fault(std::string_view text, int line, std::string_view part) {
  const std::vector<Fault> found = faults(text);
  ASSERT_EQ(found.size(), 1U) << text.substr(0, 80);
  EXPECT_EQ(found[0].file, "file.yaml");
  EXPECT_EQ(found[0].line, line) << found[0].message;
  EXPECT_NE(found[0].message.find(part), std::string::npos) << found[0].message;
  EXPECT_EQ(found[0].message.find('\n'), std::string::npos);
}

TEST(Yaml, KeepsLinesAndOrder) {
  std::vector<Fault> none;
  const auto root = parse_yaml("# comment\nb: [1, two]\na:\n  c: 'x: y'\n  d:\n", {"f", none});
  ASSERT_TRUE(root && none.empty());
  ASSERT_EQ(root->keys.size(), 2U);
  EXPECT_EQ(root->keys[0].text, "b");
  EXPECT_EQ(root->keys[0].line, 2);
  EXPECT_EQ(root->items[0].items[1].scalar, "two");
  EXPECT_EQ(root->items[1].items[0].scalar, "x: y");
  EXPECT_EQ(root->items[1].items[0].line, 4);
  EXPECT_EQ(root->items[1].items[1].kind, Value::Kind::kNull);
}

TEST(Yaml, RefusesRepeatedKeys) {
  expect_fault("a: 1\nb: 2\na: 3\n", 3, "key 'a' stands twice");
}

TEST(Yaml, RefusesAnchorsAliasesAndTags) {
  expect_fault("a: &x 1\nb: 2\n", 1, "anchors");
  expect_fault("a: 1\nb: !!int 2\n", 2, "tag");
  expect_fault("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n", 1, "anchors");
  expect_fault("a: 1\nb: *nowhere\n", 2, "yaml: ");
}

TEST(Yaml, RefusesKeysThatAreNotWords) {
  expect_fault("? [1, 2]\n: x\n", 1, "keys must be words");
}

TEST(Yaml, RefusesBrokenSyntaxWithItsLine) {
  expect_fault("a: 1\nb: [1, 2\n", 3, "correct the syntax");
  expect_fault("a: 1\nb: \"open", 2, "correct the syntax");
  expect_fault("a: 1\n  b: 2\n", 2, "correct the syntax");
  expect_fault("a: 1\n\tb: 2\n", 2, "yaml: ");
}

TEST(Yaml, RefusesNoneAndTwoDocuments) {
  expect_fault("", 1, "empty");
  expect_fault("a: 1\n---\nb: 2\n", 1, "second document");
}

TEST(Yaml, BoundsDepthAndSize) {
  for (const char* open : {"[", "{a: ", "- ", "? "}) {
    std::string text;
    for (int i = 0; i < 100000; ++i)
      text += open;
    const std::vector<Fault> found = faults(text);
    ASSERT_EQ(found.size(), 1U) << open;
  }
  expect_fault("a: [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n", 1, "nesting is deeper than 16");
  expect_fault(std::string(kMaxFileBytes + 1, '#'), 0, "at most 1048576 are read");
}

TEST(Yaml, SurvivesNoise) {
  for (const std::string& text :
       {std::string("\0\0\0", 3), std::string("\xff\xfe\x00\x41", 4),
        std::string("%YAML 9.9\n--- x"), std::string("a: \xc3\x28\n"), std::string("&"),
        std::string("*"), std::string("!"), std::string(": :"), std::string("- - -\n- ["),
        std::string(200000, ':'), std::string(200000, '\n') + "]"}) {
    faults(text);  // its own check: a value or a fault, never both
  }
}

// Every prefix of a text is a value or one fault.
TEST(Yaml, SurvivesTruncation) {
  const std::string text = "ops:\n  - op: \"a\"\n    list: [1, {b: c}]\n    text: 'd'\n";
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_LE(faults(text.substr(0, length)).size(), 1U) << length;
}

}  // namespace
}  // namespace convoy::manifest
