#!/usr/bin/env python3
"""A build of 211 processes: writes C++ sources and their Makefile into a folder.

many_processes.py FOLDER; then: proust record -o RUN -- make -C FOLDER -j2
"""
import pathlib
import sys

FILES = 68  # each is a driver, a compiler and an assembler; make and the linker come to these

SOURCE = """#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
bool matches_{n}(const std::string &word) {{ return std::regex_match(word, std::regex("a{n}+b*")); }}
int sum_{n}(std::map<std::string, int> &words) {{
    int sum = 0;
    for (auto &word : words)
        sum += matches_{n}(word.first) ? word.second : 0;
    return sum;
}}
"""

MAKEFILE = """OBJECTS := {objects}
program: $(OBJECTS)
\tg++ -o $@ $^
%.o: %.cc
\tg++ -O0 -c -o $@ $<
"""

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for n in range(FILES):
    (folder / f"f{n}.cc").write_text(SOURCE.format(n=n))
(folder / "main.cc").write_text("int main() { return 0; }\n")
objects = " ".join([f"f{n}.o" for n in range(FILES)] + ["main.o"])
(folder / "Makefile").write_text(MAKEFILE.format(objects=objects))
