#!/usr/bin/env python3
"""Checks the rules of the house that no compiler knows; prints one line per violation.

check_house.py ROOT                                        every rule but self-contained headers
check_house.py ROOT --compiler CXX [--include DIR ...]     only those: each header compiled alone
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import platform
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Iterator, NamedTuple

ROOMS = ["base", "tensor", "problem", "launch", "jit", "kernel", "plan", "api"]
PUBLIC_ROOM = {
    "status.h": "base",
    "dtype.h": "base",
    "dtype.inc": "base",
    "tensor.h": "tensor",
    "problem.h": "problem",
    "device.h": "launch",
    "run_args.h": "launch",
    "plan.h": "plan",
    "convoy.h": "api",
    "c_api.h": "api",
}
# What a caller of the library may include by quotes beside its own files.
CALLERS = {"cli": ["bench/", "manifest/"], "bench": ["launch/timer.h"], "python": []}
DEVICE_INCLUDES = ["tensor/", "base/portable.h", "kernel/gpu/device/"]

CXX = {".h", ".cc", ".cuh", ".inc"}
HASH_COMMENT = {".py", ".sh", ".cmake"}
TEXT = CXX | HASH_COMMENT | {".in", ".md", ".txt", ".yaml", ".yml", ".json", ".toml", ".cfg"}
TEST_FILE = re.compile(r"_test(_util)?\.(cc|h)$")
# A header of an instruction tier is compiled with the flags of its tier.
TIER_FLAGS = {"avx2": "-march=x86-64-v3", "avx512": "-march=x86-64-v4"}
MAX_LINES = 500
SKIPPED_FOLDERS = re.compile(r"^(build.*|\.git|\.cache|\.venv|__pycache__|shared)$")

PRINTS = re.compile(
    r"\b(?:printf|fprintf|vprintf|puts|fputs|putchar|perror)\s*\(|\bstd::(?:cout|cerr|clog)\b"
    r"|#\s*include\s*<iostream>"
)
ENDS = re.compile(r"\bthrow\b|\b(?:abort|_?exit|quick_exit|terminate)\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Spelt in two parts so that this file passes its own rules.
OPEN_WORK = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME)\b(?!\(#\d+\))")
FORBIDDEN = re.compile(
    r"(?<![\w.~])/(?:wo" + r"rk|ro" + r"ot|ho" + r"me)/"
    r"|\b(?:assi" + r"stants?|suba" + r"gents?)\b"
    r"|\b(?:pypi" + r"\.org|deb\.deb" + r"ian\.org|files\.python" + r"hosted\.org)\b",
    re.IGNORECASE,
)


class Violation(NamedTuple):
    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: [{self.rule}] {self.message}"


class File:
    """One text file of the tree; path is relative to the root, with slashes."""

    def __init__(self, root: Path, path: str):
        self.path = path
        self.suffix = PurePosixPath(path).suffix
        self.name = PurePosixPath(path).name
        self.parts = path.split("/")
        self.is_test = self.parts[0] == "tests" or bool(TEST_FILE.search(self.name))
        self.lines = (root / path).read_text(encoding="utf-8", errors="replace").split("\n")
        if self.lines[-1] == "":
            self.lines.pop()

    def code(self) -> Iterator[tuple[int, str]]:
        """C++ lines without comments and the contents of strings."""
        in_block = False
        for number, line in enumerate(self.lines, 1):
            line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line.replace("'\"'", "' '"))
            if in_block:
                _, end, line = line.partition("*/")
                in_block = not end
            line = re.sub(r"/\*.*?\*/", " ", line).partition("//")[0]
            line, start, _ = line.partition("/*")
            in_block = in_block or bool(start)
            yield number, line

    def includes(self) -> Iterator[tuple[int, str, str]]:
        """(line number, '<' or '"', path)"""
        for number, line in enumerate(self.lines, 1):
            if match := INCLUDE.match(line):
                yield number, match[1], match[2]


def tree(root: Path) -> list[File]:
    files = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(f for f in subfolders if not SKIPPED_FOLDERS.match(f))
        for name in sorted(names):
            if PurePosixPath(name).suffix in TEXT:
                files.append(File(root, (Path(folder) / name).relative_to(root).as_posix()))
    return files


def room_of_include(path: str) -> str | None:
    head, _, rest = path.partition("/")
    if head == "convoy":
        return PUBLIC_ROOM.get(rest)
    return head if head in ROOMS else None


def room_of_file(file: File) -> str | None:
    if file.parts[:2] == ["include", "convoy"]:
        return PUBLIC_ROOM.get(file.name)
    return file.parts[1] if file.parts[0] == "src" and len(file.parts) > 2 else None


def check_include_order(file: File) -> Iterator[Violation]:
    """A room includes itself and the rooms to its left."""
    in_library = file.parts[0] == "src" or file.parts[:2] == ["include", "convoy"]
    if not in_library or file.suffix not in CXX or file.is_test:
        return
    room = room_of_file(file)
    if room not in ROOMS:
        yield Violation(file.path, 1, "room", f"belongs to no room of {' < '.join(ROOMS)}")
        return
    for number, mark, included in file.includes():
        other = room_of_include(included)
        if other is None:
            if mark == '"' or included.startswith("convoy/"):
                yield Violation(file.path, number, "include", f"{included} belongs to no room")
        elif ROOMS.index(other) > ROOMS.index(room):
            yield Violation(
                file.path, number, "include", f"{room} includes {included} of {other}, to its right"
            )


def check_device_text(file: File) -> Iterator[Violation]:
    """What the run-time compiler reads includes no standard header and nothing of the host."""
    tensor_header = file.parts[:2] == ["src", "tensor"] and file.suffix == ".h"
    if not tensor_header and file.suffix != ".cuh":
        return
    own = "/".join(file.parts[1:-1]) + "/"
    allowed = DEVICE_INCLUDES[:2] if tensor_header else [*DEVICE_INCLUDES, own]
    for number, _, included in file.includes():
        if not any(included.startswith(prefix) for prefix in allowed):
            message = f"device text includes {included}; allowed are {', '.join(allowed)}"
            yield Violation(file.path, number, "device", message)


def check_callers(file: File, paths: set[str]) -> Iterator[Violation]:
    """cli, bench and python see the public headers only."""
    caller = file.parts[0]
    if caller not in CALLERS or file.suffix not in CXX or file.is_test:
        return
    folder = str(PurePosixPath(file.path).parent)
    for number, mark, included in file.includes():
        named = {included, f"{caller}/{included}", f"{folder}/{included}"}
        own = mark == '"' and any(p.startswith(caller + "/") and p in paths for p in named)
        public = included.startswith("convoy/")
        foreign = mark == "<" and included.partition("/")[0] not in ROOMS
        if not (own or public or foreign or any(map(included.startswith, CALLERS[caller]))):
            message = f"{caller} includes {included}; it may include convoy/*.h and its own files"
            yield Violation(file.path, number, "caller", message)


def check_library_manners(file: File) -> Iterator[Violation]:
    """The library neither prints nor throws nor ends the process."""
    if file.parts[0] not in ("src", "include") or file.suffix not in CXX or file.is_test:
        return
    for number, line in file.code():
        if match := PRINTS.search(line):
            yield Violation(file.path, number, "print", f"'{match[0]}' in the library")
        if match := ENDS.search(line):
            yield Violation(file.path, number, "throw", f"'{match[0]}' in the library")


def check_form(file: File) -> Iterator[Violation]:
    """First line, #pragma once, name, length."""
    if file.suffix in CXX:
        if not file.lines or not file.lines[0].startswith("// "):
            yield Violation(file.path, 1, "first-line", "must be a // comment: the file's one job")
        if file.suffix in (".h", ".cuh") and "#pragma once" not in file.lines:
            yield Violation(file.path, 1, "pragma-once", "header without #pragma once")
    elif file.suffix in HASH_COMMENT or file.name == "CMakeLists.txt":
        body = file.lines[1:] if file.lines and file.lines[0].startswith("#!") else file.lines
        if not body or not body[0].startswith(("# ", '"""')):
            yield Violation(file.path, 1, "first-line", "must be a comment: the file's one job")
    if file.suffix in CXX | HASH_COMMENT:
        if not re.fullmatch(r"[a-z_][a-z0-9_]*\.[a-z]+|[a-z]+-config\.cmake", file.name):
            yield Violation(file.path, 1, "file-name", "must be snake_case")
        if len(file.lines) > MAX_LINES:
            message = f"{len(file.lines)} lines, at most {MAX_LINES}; split it"
            yield Violation(file.path, MAX_LINES + 1, "length", message)


def check_words(file: File) -> Iterator[Violation]:
    for number, line in enumerate(file.lines, 1):
        if match := OPEN_WORK.search(line):
            yield Violation(file.path, number, "open-work", f"{match[0]} without its issue: (#N)")
        if match := FORBIDDEN.search(line):
            yield Violation(file.path, number, "forbidden", f"'{match[0]}'")


def kernel_names(files: list[File]) -> list[str]:
    for file in files:
        if file.path == "manifest/kernels.yaml":
            rows = (re.match(r"\s*-?\s*\{?\s*name:\s*([a-z0-9_]+)", line) for line in file.lines)
            return [row[1] for row in rows if row]
    return []


def check_kernel_names(files: list[File]) -> Iterator[Violation]:
    """A kernel is named in its own folder of src/kernel, in manifest, tests, records and docs."""
    if not (names := kernel_names(files)):
        return
    word = re.compile(r"(?<![a-z0-9_])(?:" + "|".join(names) + r")(?![a-z0-9_])")
    defined = re.compile(r"\bconst Kernel (\w+)")
    home: dict[str, str] = {}
    for file in files:
        if file.path.startswith("src/kernel/") and len(file.parts) > 3:
            for line in file.lines:
                for name in defined.findall(line):
                    home.setdefault(name, str(PurePosixPath(file.path).parent) + "/")
    free = ("tests/", "bench/records/", "docs/", "manifest/")
    for file in files:
        if file.path.startswith(free):
            continue
        for number, line in enumerate(file.lines, 1):
            for name in word.findall(line):
                if not file.path.startswith(home.get(name, "\0")):
                    message = f"{name} is named outside {home.get(name, 'its own folder')}"
                    yield Violation(file.path, number, "kernel-name", message)


def check_tree(root: Path) -> list[Violation]:
    files = tree(root)
    paths = {file.path for file in files}
    found: list[Violation] = []
    for file in files:
        found += check_include_order(file)
        found += check_device_text(file)
        found += check_callers(file, paths)
        found += check_library_manners(file)
        found += check_form(file)
        found += check_words(file)
    found += check_kernel_names(files)
    return found


def check_header(root: Path, path: str, compiler: str, flags: list[str]) -> list[Violation]:
    command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-", *flags]
    if tier := re.search(r"(?:^|[_/])(avx2|avx512)\.h$", path):
        if platform.machine() != "x86_64":
            return []
        command.append(TIER_FLAGS[tier[1]])
    text = f'#include "{root / path}"\n'
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    return [Violation(path, 1, "self-contained", errors[0] if errors else "does not compile alone")]


def check_headers(root: Path, compiler: str, flags: list[str]) -> list[Violation]:
    """Device halves speak words that only a device compiler knows: tests/cubins compiles them."""
    headers = [f.path for f in tree(root) if f.suffix == ".h" and not f.is_test]
    headers = [path for path in headers if not path.endswith(("/lang_cuda.h", "/lang_hip.h"))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda path: check_header(root, path, compiler, flags), headers)
    return [violation for result in results for violation in result]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--compiler", help="compile each header alone instead")
    parser.add_argument("--include", action="append", default=[], metavar="DIR")
    parser.add_argument("--define", action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    root = args.root.resolve()
    if not (root / "src").is_dir():
        parser.error(f"{root} has no src folder")
    if args.compiler:
        flags = [f"-I{folder}" for folder in args.include]
        flags += [f"-D{macro}" for macro in args.define]
        found = check_headers(root, args.compiler, flags)
    else:
        found = check_tree(root)
    for violation in sorted(found):
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
