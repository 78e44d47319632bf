// Device tensors in host memory, for code that reads or writes their elements on the CPU.
#pragma once

#include <convoy/device.h>

namespace convoy {

// The elements that lie between the lowest and the highest element of a view, both included.
struct Span {
  int64_t low = 0;  // offset of the lowest from the view's origin, at most 0
  int64_t elements = 0;
  bool dense = false;  // the view visits each of them exactly once
};
Span span_of(const TensorView& view);  // of a view that has elements

// What reaches a view's memory without opening its device; only the id of it is known.
Device holder_of(const TensorView& view);

// A copy of a view's span in host memory. Gaps come along, so that they can be written back.
struct HostCopy {
  Buffer buffer;
  TensorView view;  // of CPU memory, with the strides of the original; the original where that is
                    // CPU memory or holds nothing
};
enum class Fill { kRead, kLeave };  // kLeave: a dense view that will be overwritten is not read
// Waits for work on the default stream first. kUnavailable: the device, or the host's memory.
Result<HostCopy> to_host(const TensorView& view, Fill fill = Fill::kRead);
// Writes the span back to the memory of `original`, from which `copy` was made.
Status to_device(const HostCopy& copy, const TensorView& original);

}  // namespace convoy
