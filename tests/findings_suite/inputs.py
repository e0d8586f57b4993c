"""Inputs of the real programs, made once by chance with a fixed seed: the same everywhere."""

import random
import shutil
import struct
import wave

from .manifest import processors, say

SEED = 20261123


def words_of(chance, count):
    syllables = [
        "ab",
        "er",
        "lu",
        "mo",
        "ta",
        "ne",
        "si",
        "qua",
        "ver",
        "on",
        "pri",
        "do",
        "us",
        "kel",
        "fra",
        "in",
    ]
    known = ["".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(6000)]
    return chance.choices(known, weights=[1 / (rank + 3) for rank in range(len(known))], k=count)


def text_of(chance, size):
    words = words_of(chance, size // 4)
    lines = (" ".join(words[at : at + 12]) for at in range(0, len(words), 12))
    return ("\n".join(lines) + "\n").encode()[:size]


def make_inputs(parent):
    """All inputs, in a folder that is there only when they are complete."""
    count = processors()
    folder = parent / f"inputs-{count}"
    if folder.is_dir():
        make_more(folder / "more", count)
        return folder
    say("making inputs")
    new = folder.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    chance = random.Random(SEED)
    text = text_of(chance, (10 << 20) * count)
    (new / "text").write_bytes(text)
    (new / "half").write_bytes(text[: 12 << 20])
    lines = [f"{chance.getrandbits(48):012x} {number}\n" for number in range(2_200_000)]
    (new / "lines").write_text("".join(lines))
    (new / "tree").mkdir()
    for number in range(24 * count):
        (new / "tree" / f"{number:03}.txt").write_bytes(
            text[number * 300_000 : (number + 6) * 300_000] or text[:1_800_000]
        )
    make_sound(new / "sound.wav")
    make_sources(new / "make", 4 * count)
    make_genome(new, chance, count)
    (new / "crate.rs").write_text(
        "".join(RUST_FUNCTION.replace("NUMBER", str(number)) for number in range(120))
    )
    (new / "query.sql").write_text(QUERY)
    new.rename(folder)
    make_more(folder / "more", count)
    return folder


def make_more(folder, count):
    """What the second held-out half needs; it came later and leaves the other inputs as they were."""
    if folder.is_dir():
        return
    say("making more inputs")
    new, chance = folder.with_suffix(".new"), random.Random(SEED + 1)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    make_proteins(new, chance, 24_000 * count)
    make_short_reads(new, chance, 24_000 * count)
    make_records(new / "records.json", chance, 130_000)
    make_ninja(new / "units", 6 * count)
    new.rename(folder)


def make_sound(path):
    chance, frames, level = random.Random(SEED), bytearray(), 0
    for _ in range(44100 * 20):
        level = (level * 15 + chance.randint(-20000, 20000)) // 16
        frames += struct.pack("<h", level) * 2
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(44100)
        file.writeframes(bytes(frames) * 8)


def make_sources(folder, count):
    """Files of C that differ in a number only, and what makes objects of them in the current folder."""
    folder.mkdir()
    objects = [f"part{number}.o" for number in range(count)]
    for number in range(count):
        body = "".join(C_FUNCTION.replace("NUMBER", f"{number}_{part}") for part in range(22))
        (folder / f"part{number}.c").write_text("#include <stdio.h>\n#include <string.h>\n" + body)
    rule = "%.o: $(SOURCES)/%.c\n\tgcc -O2 -c -o $@ $<\n"
    (folder / "Makefile").write_text(f"all: {' '.join(objects)}\n{rule}")


def make_genome(folder, chance, count):
    genome = "".join(chance.choices("ACGT", k=1_000_000))
    (folder / "genome.fa").write_text(f">g\n{genome}\n")
    with open(folder / "reads.fa", "w") as file:
        for number in range(5000 * count):
            at = chance.randrange(len(genome) - 3000)
            read = list(genome[at : at + 3000])
            for place in chance.sample(range(3000), 240):
                read[place] = chance.choice("ACGT")
            file.write(f">r{number}\n{''.join(read)}\n")


def make_proteins(folder, chance, count):
    """Proteins of the same length, a few of them kin to a part of the one that is searched for."""
    letters, length = "ACDEFGHIKLMNPQRSTVWY", 100
    query = chance.choices(letters, k=4 * length)
    (folder / "query.fa").write_text(f">query\n{''.join(query)}\n")
    with open(folder / "proteins.fa", "w") as file:
        for number in range(count):
            protein = chance.choices(letters, k=length)
            if number % 1000 == 7:
                protein = [old if chance.random() < 0.6 else new for old, new in zip(query, protein)]
            file.write(f">p{number}\n{''.join(protein)}\n")


def make_short_reads(folder, chance, count):
    """A small genome and reads of 150 letters from anywhere in it, with a few letters changed."""
    genome = "".join(chance.choices("ACGT", k=200_000))
    (folder / "small.fa").write_text(f">s\n{genome}\n")
    with open(folder / "short.fa", "w") as file:
        for number in range(count):
            at = chance.randrange(len(genome) - 150)
            read = list(genome[at : at + 150])
            for place in chance.sample(range(150), 4):
                read[place] = chance.choice("ACGT")
            file.write(f">r{number}\n{''.join(read)}\n")


def make_records(path, chance, count):
    words = words_of(chance, 3 * count)
    with open(path, "w") as file:
        for number in range(count):
            name, place, kind = words[3 * number : 3 * number + 3]
            file.write(
                f'{{"id": {number}, "name": "{name}", "place": {{"name": "{place}", '
                f'"at": [{chance.randint(0, 999)}, {chance.randint(0, 999)}]}}, "kind": "{kind}"}}\n'
            )


def make_ninja(folder, count):
    """As make_sources, for Clang and Ninja, in a folder that has to be linked as `units`."""
    folder.mkdir()
    lines = ["rule compile", "  command = clang -O2 -c -o $out $in"]
    for number in range(count):
        body = "".join(C_FUNCTION.replace("NUMBER", f"{number}_{part}") for part in range(24))
        (folder / f"unit{number}.c").write_text("#include <stdio.h>\n#include <string.h>\n" + body)
        lines.append(f"build unit{number}.o: compile units/unit{number}.c")
    (folder / "build.ninja").write_text("\n".join(lines) + "\n")


C_FUNCTION = """
int sum_NUMBER(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] * (i % 7); return s; }
void text_NUMBER(char *to, const char *from) {
    size_t n = strlen(from);
    for (size_t i = 0; i < n; i++) switch (from[i]) {
        case 'a': to[i] = 'b'; break; case 'c': to[i] = (char)(i * 3); break;
        case 'd': to[i] = to[i / 2]; break;
        case 'e': printf("%zu", i); break; default: to[i] = from[n - i - 1];
    }
}
double area_NUMBER(double a, double b, int n) {
    double t = 0;
    for (int i = 0; i < n; i++) { double x = a + (b - a) * i / n; t += x * x / (1 + x); }
    return t;
}
"""
RUST_FUNCTION = """
pub fn count_NUMBER(words: &[&str]) -> std::collections::BTreeMap<String, usize> {
    let mut counts = std::collections::BTreeMap::new();
    for word in words.iter().filter(|word| word.len() > NUMBER % 7) {
        *counts.entry(word.to_lowercase()).or_insert(NUMBER) += 1;
    }
    counts
}
"""
QUERY = """
CREATE TABLE item(id INTEGER PRIMARY KEY, kind INTEGER, price REAL, name TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250000)
  INSERT INTO item
  SELECT i, (i * 7919) % 1009, (i * 31 % 1000) / 10.0, printf('item %08d', (i * 7907) % 250007) FROM n;
CREATE INDEX by_kind ON item(kind);
SELECT kind, count(*), sum(price) AS s FROM item GROUP BY kind ORDER BY s DESC LIMIT 3;
SELECT count(*) FROM item a JOIN item b ON a.kind = b.kind AND b.id < a.id
  WHERE a.id % 40 = 0 AND b.price > 50;
SELECT name FROM item WHERE name LIKE '%99%' ORDER BY name DESC LIMIT 3;
"""
