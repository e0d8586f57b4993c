"""Words of many letters are counted: each rank reads its letters, and the table of all is wanted at last."""

from mpi4py import MPI

LETTERS, WORDS, NAMES = 200, 9000, 30011


def read_letter(number):
    """A letter of so many words; few of them are frequent."""
    state, words = 7919 * number + 1, []
    for _ in range(WORDS):
        state = (state * 1103515245 + 12345) % 2147483648
        words.append(f"w{(state >> 8) % NAMES * ((state >> 23) % 64) // 64}")
    return words


def merged(one, other):
    for word, count in other.items():
        one[word] = one.get(word, 0) + count
    return one


def count_letters(world):
    table = {}
    for number in range(world.rank, LETTERS, world.size):
        found = {}
        for word in read_letter(number):
            found[word] = found.get(word, 0) + 1
        table = merged(table, world.allreduce(found, op=merged))  # FAULT: after each letter, not at the end
    return table


def main():
    world = MPI.COMM_WORLD
    table = count_letters(world)
    if world.rank == 0:
        print(len(table), max(table.values()))


main()
