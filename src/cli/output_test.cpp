#include "cli/output.h"

#include <gtest/gtest.h>

namespace headrace::cli {
namespace {

TEST(Cleaned, LeavesNothingThatSteersATerminal) {
  EXPECT_EQ(cleaned("a\x1b[2J\x07"
                    "b\r\nc\rd\te\x7f\xc2\x9b"
                    "31m\xff\xe6\x97\xa5"),
            "a[2Jb\nc\nd\te31m\xef\xbf\xbd\xe6\x97\xa5");
}

}  // namespace
}  // namespace headrace::cli
