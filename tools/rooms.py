"""The rooms of src/, as their CMakeLists.txt declare them: what check_layers and draw_architecture read."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {".h", ".hpp", ".cpp", ".cu", ".cuh"}

# The room that stands behind each public header: who includes the header depends on that room.
PUBLIC_HEADERS = {
    "types.h": "core",
    "logits_processor.h": "core",
    "communicator.h": "comm",
    "attributes.h": "ir",
    "graph.h": "ir",
    "rewrite.h": "ir",
    "functional.h": "ops",
    "nn.h": "nn",
    "weights.h": "weights",
    "plugin.h": "plugin",
    "plugin.hpp": "plugin",
    "plugins.h": "plugin",
    "compile.h": "compiler",
    "debug.h": "debug",
    "session.h": "session",
    "engine.h": "engine",
    "build.h": "build",
    "tokenizer.h": "text",
    "executor.h": "runtime",
    "chat_template.h": "llm",
    "perplexity.h": "llm",
    "llm.h": "llm",
    "encoder.h": "api",
}

# Two halves that never use each other; the rooms above them (session, api, cli) use both.
BUILD_HALF = {"nn", "models", "compiler", "build"}
RUN_HALF = {"lowering", "debug", "runtime", "llm"}


def without_comments(cmake):
    return re.sub(r"#[^\n]*", "", cmake)


def declared_order():
    """Rooms in the order in which the top CMakeLists.txt adds them, lowest first."""
    loop = re.search(r"foreach\(room ([^)]*)\)", without_comments((ROOT / "CMakeLists.txt").read_text()))
    return loop.group(1).split()


def depends(room, keyword="DEPENDS"):
    """The rooms that the DEPENDS (or TEST_DEPENDS) of `room` names, in order."""
    names = []
    text = without_comments((ROOT / "src" / room / "CMakeLists.txt").read_text())
    for call in re.findall(r"headrace_room\(([^)]*)\)", text):
        listing = False
        for word in call.split()[1:]:
            if word.isupper():
                listing = word == keyword
            elif listing and word not in names:
                names.append(word)
    return names


def read_rooms():
    """{room: [rooms it names]}, lowest first; folders that the top CMakeLists.txt does not add come last."""
    order = declared_order()
    folders = sorted(p.parent.name for p in (ROOT / "src").glob("*/CMakeLists.txt"))
    return {room: depends(room) for room in order + [f for f in folders if f not in order] if room in folders}


def reachable(rooms, start):
    """Every room that `start` may use, directly or not; `start` itself only when it is part of a cycle."""
    seen, waiting = set(), list(rooms.get(start, []))
    while waiting:
        room = waiting.pop()
        if room not in seen:
            seen.add(room)
            waiting += rooms.get(room, [])
    return seen


def direct_arrows(rooms):
    """{room: the rooms it names that no other room it names leads to}: the arrows worth drawing."""
    return {room: [d for d in names if not any(d in reachable(rooms, other) for other in names if other != d)] for room, names in rooms.items()}
