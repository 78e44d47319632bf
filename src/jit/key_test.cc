// The key of a kernel changes with every field that reaches the compiler.
#include "jit/key.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace convoy {
namespace {

struct Fields {
  Source source{"name", "text", "entry"};
  std::vector<DeviceText> texts{{"a.h", "one"}, {"b.h", "two"}};
  std::string arch = "sm_90";
  std::vector<std::string> options{"-x", "-y"};
  int major = 13, minor = 0;
};

std::string key(const Fields& f) {
  return key_of({f.source, f.texts, f.arch, f.options, f.major, f.minor});
}

TEST(JitKey, ChangesWithEveryField) {
  const std::vector<std::function<void(Fields&)>> changes = {
      [](Fields&) {},
      [](Fields& f) { f.source.text = "texu"; },
      [](Fields& f) { f.source.entry = "entrz"; },
      [](Fields& f) { f.texts[0].path = "c.h"; },
      [](Fields& f) { f.texts[1].text = "twp"; },
      [](Fields& f) { f.texts.pop_back(); },
      [](Fields& f) { f.arch = "sm_80"; },
      [](Fields& f) { f.options[1] = "-z"; },
      [](Fields& f) { f.options = {"-x-y"}; },
      [](Fields& f) { f.options = {"-x", "-", "y"}; },
      [](Fields& f) { f.major = 12; },
      [](Fields& f) { f.minor = 1; },
      // The same bytes, cut elsewhere.
      [](Fields& f) { f.source = {"name", "texte", "ntry"}; },
      [](Fields& f) { f.texts[0] = {"a.ho", "ne"}; },
  };
  std::set<std::string> keys;
  for (const auto& change : changes) {
    Fields fields;
    change(fields);
    EXPECT_EQ(key(fields), key(fields));
    EXPECT_EQ(key(fields).size(), 32U);
    EXPECT_TRUE(keys.insert(key(fields)).second);
  }
}

TEST(JitKey, LeavesTheNameOut) {
  Fields renamed;
  renamed.source.name = "other";
  EXPECT_EQ(key(Fields{}), key(renamed));
}

}  // namespace
}  // namespace convoy
