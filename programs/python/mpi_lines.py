"""Calls MPI by ctypes, from lines and call paths that change from call to call.

Arguments: the library of MPI, how often. Prints `FUNCTION LINE CALLS` for each line that calls, of one rank.
"""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
times = int(sys.argv[2])
if hasattr(library, "ompi_mpi_comm_world"):
    world = ctypes.c_void_p(ctypes.addressof(ctypes.c_byte.in_dll(library, "ompi_mpi_comm_world")))
else:
    world = ctypes.c_int(0x44000000)


def alone():
    library.MPI_Barrier(world)


def two_lines():
    library.MPI_Barrier(world)
    library.MPI_Barrier(world)


def deeper(levels):
    if levels > 0:
        deeper(levels - 1)
    else:
        library.MPI_Barrier(world)


def in_turn():
    for _ in range(3):
        library.MPI_Barrier(world)
        yield


def made(number):
    # A function whose code is freed again: the next one may lie where it lay.
    names = {"library": library, "world": world}
    exec(f"def made_{number % 2}():\n    library.MPI_Barrier(world)\n", names)
    names[f"made_{number % 2}"]()


library.MPI_Init(None, None)
for step in range(times):
    alone()
    two_lines()
    alone()
    deeper(step % 4)
    for _ in in_turn():
        alone()
    made(step)
rank = ctypes.c_int(-1)
library.MPI_Comm_rank(world, ctypes.byref(rank))
library.MPI_Finalize()
if rank.value == 0:
    for name, line, calls in [
        ("alone", 17, 5 * times),
        ("two_lines", 21, times),
        ("two_lines", 22, times),
        ("deeper", 29, times),
        ("in_turn", 34, 3 * times),
        ("made_0", 2, (times + 1) // 2),
        ("made_1", 2, times // 2),
    ]:
        print(name, line, calls)
