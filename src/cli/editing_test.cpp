// What a person types: keys, the text under edit, its place on a screen, the history.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/chat_history.h"
#include "cli/edited_text.h"
#include "cli/key_reader.h"
#include "cli/output.h"
#include "core/utf8.h"

namespace headrace::cli {
namespace {

using testing::ElementsAre;

// ---------------------------------------------------------------------------------------------------------------- keys

struct Keys {
  std::string text;       // all of it
  std::vector<Key> keys;  // the others
};

Keys keys_of(const std::string& bytes, size_t piece) {
  KeyReader reader;
  Keys all;
  for (size_t i = 0; i < bytes.size(); i += piece) {
    reader.feed(std::string_view(bytes).substr(i, piece));
    while (const std::optional<KeyPress> press = reader.next()) {
      if (press->key == Key::kText) all.text += press->text;
      else if (press->key != Key::kNone) all.keys.push_back(press->key);
    }
  }
  return all;
}

TEST(KeyReader, HearsTheSameHoweverTheBytesArrive) {
  const std::string bytes =
      "caf\xc3\xa9\x1b[A\x1bOB\x1b[1;5C\x1b[3~\x1b[200~one\rtwo\x1b[31m\r\nthree\x1b[201~\x1b\r\x7f\xe6\x97\xa5\x1b[13;2u\x1b[[A\x1b[15~"
      "\x03\r";
  for (size_t piece : {1u, 2u, 3u, 7u, 1000u}) {
    SCOPED_TRACE(piece);
    const Keys all = keys_of(bytes, piece);
    EXPECT_EQ(all.text, "caf\xc3\xa9one\ntwo[31m\nthree\xe6\x97\xa5");
    EXPECT_THAT(all.keys, ElementsAre(Key::kUp, Key::kDown, Key::kWordRight, Key::kDelete, Key::kNewLine, Key::kBackspace, Key::kNewLine,
                                      Key::kInterrupt, Key::kEnter));
  }
}

TEST(KeyReader, AnyBytesAreKeysOfValidText) {
  uint64_t random = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 40; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      bytes += random >> 62 ? char(random >> 40) : '\x1b';
      if ((random >> 33) % 5 == 0) bytes += "[20";
    }
    EXPECT_TRUE(is_valid_utf8(keys_of(bytes, 1 + size_t(round) % 9).text));
  }
}

TEST(KeyReader, KnowsTheEscapeKeyFromTheBeginOfASequence) {
  KeyReader reader;
  reader.feed("\x1b");
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.holds_escape());
  reader.feed("[200~\x1b");
  while (reader.next()) continue;
  EXPECT_FALSE(reader.holds_escape()) << "within a paste it is the begin of its end";
  reader.feed("[201~");
  EXPECT_EQ(reader.next()->key, Key::kText);
}

TEST(KeyReader, ALongPasteTakesLinearTime) {
  KeyReader reader;
  reader.feed("\x1b[200~");
  while (reader.next()) continue;
  for (int i = 0; i < 40000; ++i) {
    reader.feed("0123456789\r");
    EXPECT_FALSE(reader.next());
  }
  reader.feed("\x1b[201~");
  EXPECT_EQ(reader.next()->text.size(), 440000u);
}

// ---------------------------------------------------------------------------------------------------------------- text

TEST(EditedText, MovesByWhatPeopleTakeForOneCharacter) {
  EditedText text;
  text.set("ae\xcc\x81\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd\xe6\x97\xa5");  // a, e with accent, thumb in a colour, a wide sign
  std::vector<size_t> stops;
  while (text.cursor() > 0) text.move_to(text.left()), stops.push_back(text.cursor());
  EXPECT_THAT(stops, ElementsAre(12u, 4u, 1u, 0u));
  stops.clear();
  while (!text.at_end()) text.move_to(text.right()), stops.push_back(text.cursor());
  EXPECT_THAT(stops, ElementsAre(1u, 4u, 12u, 15u));
  EXPECT_EQ(text.cut_to(text.left()), "\xe6\x97\xa5");
  EXPECT_EQ(text.cursor(), 12u);
}

TEST(EditedText, MovesByLinesAndWords) {
  EditedText text;
  text.set("one two\n\xc3\xa9\n\nfour");
  EXPECT_EQ(text.below(), std::string::npos);
  std::vector<size_t> stops;
  for (size_t to; (to = text.above()) != std::string::npos;) text.move_to(to), stops.push_back(to);
  EXPECT_THAT(stops, ElementsAre(11u, 8u, 0u)) << "through an empty line, to shorter ones";
  text.move_to(3);
  EXPECT_EQ(text.word_left(), 0u);
  EXPECT_EQ(text.word_right(), 7u);
  EXPECT_EQ(text.line_end(), 7u);
  text.move_to(text.below());
  EXPECT_EQ(text.cursor(), 10u);
  EXPECT_EQ(text.line_begin(), 8u);
}

std::vector<std::string> rows(const EditedText& text, int columns, std::pair<int, int>* cursor = nullptr) {
  const ScreenText screen = lay_out(text, 2, columns);
  if (cursor) *cursor = {screen.cursor_row, screen.cursor_column};
  std::vector<std::string> rows;
  for (const ScreenRow& row : screen.rows) rows.push_back(text.text().substr(row.begin, row.end - row.begin));
  return rows;
}

TEST(LayOut, BreaksLinesWhereTheTerminalDoes) {
  EditedText text;
  std::pair<int, int> cursor;
  text.set("abcdef");
  EXPECT_THAT(rows(text, 8, &cursor), ElementsAre("abcdef", "")) << "the cursor stands behind a full row";
  EXPECT_EQ(cursor, std::pair(1, 0));
  text.set("abcdefg\nh");
  EXPECT_THAT(rows(text, 8, &cursor), ElementsAre("abcdef", "g", "h"));
  EXPECT_EQ(cursor, std::pair(2, 3));
  text.set("abcde\xe6\x97\xa5");
  EXPECT_THAT(rows(text, 8, &cursor), ElementsAre("abcde", "\xe6\x97\xa5")) << "a wide sign is not split";
  text.move_to(5);
  rows(text, 8, &cursor);
  EXPECT_EQ(cursor, std::pair(1, 0));
  text.set("");
  EXPECT_THAT(rows(text, 8, &cursor), ElementsAre(""));
  EXPECT_EQ(cursor, std::pair(0, 2));
}

TEST(LayOut, EveryPositionHasAPlaceOnScreensOfEveryWidth) {
  EditedText text;
  text.set("a\tb\xcc\x81\n\n\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e xyz\n");
  for (int columns = 4; columns < 30; ++columns) {
    std::pair<int, int> before = {-1, 0};
    for (size_t at = 0;; text.move_to(at), at = text.right()) {
      text.move_to(at);
      std::pair<int, int> cursor;
      rows(text, columns, &cursor);
      EXPECT_GE(cursor, before) << columns << " columns, byte " << at;
      EXPECT_LT(cursor.second, columns);
      before = cursor;
      if (text.at_end()) break;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------- history

class ChatHistoryTest : public testing::Test {
 protected:
  ChatHistoryTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "headrace_history_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ChatHistoryTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(ChatHistoryTest, IsThereInTheNextSessionAndForItsOwnerAlone) {
  const std::string path = folder_ / "state/headrace/chat_history";
  ChatHistory first(path);
  first.add("one\ntwo\\n");
  first.add("one\ntwo\\n");
  first.add("");
  first.add("caf\xc3\xa9");
  EXPECT_THAT(ChatHistory(path).entries(), ElementsAre("one\ntwo\\n", "caf\xc3\xa9"));
  struct stat file = {}, folder = {};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  ASSERT_EQ(::stat((folder_ / "state").c_str(), &folder), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  EXPECT_EQ(folder.st_mode & 0777, 0700u);
}

TEST_F(ChatHistoryTest, DoesNotGrowForEver) {
  const std::string path = folder_ / "h";
  std::ofstream(path) << std::string(3000, 'x') << '\n';
  ChatHistory history(path);
  for (int i = 0; i < 1100; ++i) history.add(std::to_string(i) + std::string(2000, 'y'));
  history.add(std::string(20000, 'z'));
  EXPECT_EQ(history.entries().back().size(), 20000u);
  const ChatHistory next(path);
  EXPECT_EQ(next.entries().size(), 1000u);
  EXPECT_THAT(next.entries().back(), testing::StartsWith("1099yy")) << "what is very long is not kept in the file";
  EXPECT_LE(std::filesystem::file_size(path), 1100000u);
  EXPECT_THAT(ChatHistory(path).entries().back(), testing::StartsWith("1099yy"));
}

TEST_F(ChatHistoryTest, AFileThatCannotBeReadIsNoHindrance) {
  std::ofstream(folder_ / "file") << "x";
  ChatHistory history(folder_ / "file/below");
  history.add("one");
  ChatHistory folder(folder_);
  folder.add("two");
  EXPECT_THAT(folder.entries(), ElementsAre("two"));
  std::ofstream(folder_ / "bytes") << "a\x1b[2Jb\xff\n";
  EXPECT_THAT(ChatHistory(folder_ / "bytes").entries(), ElementsAre("a[2Jb\xef\xbf\xbd"));
}

TEST(ChatHistoryPath, IsWhereTheEnvironmentSays) {
  for (const char* name : {"HEADRACE_CHAT_HISTORY", "XDG_STATE_HOME", "HOME"}) ::unsetenv(name);
  EXPECT_EQ(chat_history_path(), "");
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(chat_history_path(), "/h/.local/state/headrace/chat_history");
  ::setenv("XDG_STATE_HOME", "relative", 1);
  EXPECT_EQ(chat_history_path(), "/h/.local/state/headrace/chat_history");
  ::setenv("XDG_STATE_HOME", "/s", 1);
  EXPECT_EQ(chat_history_path(), "/s/headrace/chat_history");
  ::setenv("HEADRACE_CHAT_HISTORY", "/f", 1);
  EXPECT_EQ(chat_history_path(), "/f");
  ::setenv("HEADRACE_CHAT_HISTORY", "", 1);
  EXPECT_EQ(chat_history_path(), "");
}

}  // namespace
}  // namespace headrace::cli
