// The memory of one rendering. Objects are counted references of one thread; the heap bounds how much is alive,
// frees without recursion (a hostile template can nest lists very deeply) and, at its end, frees cycles too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace headrace::jinja {

class Heap;

class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;
  // Drops every reference to other objects: the heap's end, where cycles may be left.
  virtual void clear() {}

 private:
  friend class Heap;
  template <typename T>
  friend class Ref;
  void release();

  Heap* heap_ = nullptr;
  Object* previous_ = nullptr;
  Object* next_ = nullptr;
  size_t bytes_ = 0;
  uint32_t references_ = 0;
};

// A counted reference.
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) { acquire(); }
  Ref(const Ref& other) : object_(other.object_) { acquire(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ && --base()->references_ == 0) base()->release();
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool is_only_one() const { return object_ && base()->references_ == 1; }

 private:
  Object* base() const { return object_; }
  void acquire() {
    if (object_) ++base()->references_;
  }
  T* object_ = nullptr;
};

class Heap {
 public:
  explicit Heap(size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  // `payload_bytes`: what the object holds outside itself. Throws Error when more would be alive than the limit.
  template <typename T, typename... Args>
  Ref<T> make(size_t payload_bytes, Args&&... args) {
    reserve(sizeof(T) + payload_bytes);
    T* object = new T(std::forward<Args>(args)...);
    adopt(object, sizeof(T) + payload_bytes);
    return Ref<T>(object);
  }
  // An object has grown.
  void charge(Object& object, size_t bytes);

 private:
  friend class Object;
  void reserve(size_t bytes) const;
  void adopt(Object* object, size_t bytes);
  void free(Object* object);

  size_t limit_bytes_;
  size_t live_bytes_ = 0;
  Object* first_ = nullptr;    // all live objects
  Object* pending_ = nullptr;  // to be freed, linked by next_
  bool is_freeing_ = false;
  bool is_ending_ = false;
};

}  // namespace headrace::jinja
