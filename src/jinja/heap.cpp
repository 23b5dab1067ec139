#include "jinja/heap.h"

#include "core/error.h"

namespace headrace::jinja {

void Object::release() { heap_->free(this); }

void Heap::reserve(size_t bytes) const {
  if (bytes > limit_bytes_ || live_bytes_ > limit_bytes_ - bytes)
    fail(ErrorCode::kOutOfMemory, "the template uses more than {} MiB of memory", limit_bytes_ >> 20);
}

void Heap::charge(Object& object, size_t bytes) {
  reserve(bytes);
  object.bytes_ += bytes;
  live_bytes_ += bytes;
}

void Heap::adopt(Object* object, size_t bytes) {
  object->heap_ = this;
  object->bytes_ = bytes;
  object->next_ = first_;
  if (first_) first_->previous_ = object;
  first_ = object;
  live_bytes_ += bytes;
}

// What an object's destructor releases is queued, so that freeing a deep structure is a loop.
void Heap::free(Object* object) {
  if (is_ending_) return;
  (object->previous_ ? object->previous_->next_ : first_) = object->next_;
  if (object->next_) object->next_->previous_ = object->previous_;
  live_bytes_ -= object->bytes_;
  object->next_ = pending_;
  pending_ = object;
  if (is_freeing_) return;
  is_freeing_ = true;
  while (pending_) delete std::exchange(pending_, pending_->next_);
  is_freeing_ = false;
}

Heap::~Heap() {
  is_ending_ = true;
  for (Object* object = first_; object; object = object->next_) object->clear();
  while (first_) delete std::exchange(first_, first_->next_);
}

}  // namespace headrace::jinja
