// Convolves ones with the installed library and prints the shape and a corner of the result.
#include <convoy/convoy.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace {

convoy::Result<convoy::Tensor> ones(const convoy::Device& device,
                                    const std::array<int64_t, 4>& sizes) {
  convoy::Result<convoy::Tensor> tensor = convoy::allocate(device, convoy::DType::kF32, sizes);
  if (tensor) std::fill_n(static_cast<float*>(tensor->view.data), tensor->view.elements(), 1.0F);
  return tensor;
}

int fail(const convoy::Status& status) {
  std::fprintf(stderr, "consumer: %s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main() {
  const auto device = convoy::device();
  if (!device) return fail(device.status());
  const auto x = ones(*device, {2, 8, 10, 9}), w = ones(*device, {12, 2, 3, 3});
  if (!x) return fail(x.status());
  if (!w) return fail(w.status());

  const convoy::Conv2d conv({.stride = {2, 1}, .padding = {1, 1}, .groups = 4});
  const auto y = conv(x->view, w->view);
  if (!y) return fail(y.status());
  const auto& view = y->view;
  std::printf("%s %g\n", convoy::shape_text({view.sizes.data(), 4}).c_str(),
              static_cast<double>(*static_cast<const float*>(view.data)));
  return 0;
}
