// The schema of machines.yaml: what a machine's peaks are and how they are known.
#include "manifest/machines.h"

#include <charconv>

#include "base/str.h"
#include "manifest/fields.h"

namespace convoy::manifest {
namespace {

void check_positive(const Fields& fields, std::string_view key) {
  const Located at = fields.text(key);
  if (at.text.empty()) return;
  double value = 0;
  const char* end = at.text.data() + at.text.size();
  const auto [stop, error] = std::from_chars(at.text.data(), end, value);
  if (error != std::errc() || stop != end || !(value > 0) || value > 1e12) {
    fields.fault(at.line, str(key, " '", at.text, "' must be a positive number",
                              key == "measured" ? ", or the word unmeasured" : ""));
  }
}

bool is_date(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '-' ? text[i] != '-' : !digit) return false;
  }
  return true;
}

void check_peak(const Value& value, const std::string& what, const FaultSink& sink) {
  const Fields fields(value, what, {"datasheet", "measured", "how", "when"}, sink);
  if (fields.find("datasheet") != nullptr) check_positive(fields, "datasheet");
  const Located measured = fields.text("measured");
  if (measured.text == "unmeasured") {
    for (const char* key : {"how", "when"}) {
      if (const Value* extra = fields.find(key); extra != nullptr) {
        fields.fault(extra->line, str(key, " is given for a peak that is unmeasured; remove it"));
      }
    }
    return;
  }
  if (measured.text.empty()) return;
  check_positive(fields, "measured");
  fields.text("how");
  const Located when = fields.text("when");
  if (!when.text.empty() && !is_date(when.text)) {
    fields.fault(when.line, str("when '", when.text, "' must be a date; write 2026-11-30"));
  }
}

}  // namespace

void check_machine(const Value& value, const FaultSink& sink, std::set<std::string>& names) {
  constexpr std::string_view kPeaks[] = {
      "copy_gbs",           "copy_l2_gbs",       "copy_l3_gbs",        "fma_f32_tflops",
      "matrix_tf32_tflops", "matrix_f16_tflops", "matrix_bf16_tflops", "matrix_e4m3_tflops",
      "empty_launch_us",    "fork_join_us"};
  Fields fields(value, "machine", {"name", "device", "arch", "peaks"}, sink);
  const Located name = fields.text("name");
  if (!name.text.empty()) fields.rename(str("machine ", name.text));
  if (!name.text.empty() && !names.insert(name.text).second) {
    fields.fault(name.line, str("name '", name.text, "' stands twice; choose another"));
  }
  fields.text("device");
  fields.text("arch");
  const Value* peaks = fields.need("peaks", Value::Kind::kMapping);
  if (peaks == nullptr) return;
  for (size_t i = 0; i < peaks->keys.size(); ++i) {
    const Key& key = peaks->keys[i];
    if (std::find(std::begin(kPeaks), std::end(kPeaks), key.text) == std::end(kPeaks)) {
      std::string known;
      for (const std::string_view peak : kPeaks)
        known += str(known.empty() ? "" : " ", peak);
      fields.fault(key.line, str("unknown peak '", key.text, "'; use ", known));
    }
    check_peak(peaks->items[i], str(fields.what(), " peak ", key.text), sink);
  }
}

}  // namespace convoy::manifest
