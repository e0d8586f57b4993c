// A program that opens an interpreter of Python at run time, uses it and closes it: prints the processor time
// of the interpreter's function and of its own, by its own clock.
#include "truth.h"

#include <dlfcn.h>

KEPT static double after(double seconds) {
    double begin = thread_cpu(), end = begin + seconds;
    volatile unsigned sum = 0;
    while (thread_cpu() < end)
        for (int i = 0; i < 1000; i++) sum += i;
    return thread_cpu() - begin;
}

static const char SCRIPT[] =
    "import time\n"
    "def embedded(seconds):\n"
    "    end = time.thread_time() + seconds\n"
    "    number = 0\n"
    "    while time.thread_time() < end:\n"
    "        for i in range(200):\n"
    "            number += i * i\n"
    "embedded(0.5)\n";

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void (*initialize)(int) = (void (*)(int))dlsym(library, "Py_InitializeEx");
    typedef int Run(const char *, void *);
    Run *run = (Run *)dlsym(library, "PyRun_SimpleStringFlags");
    int (*finalize)(void) = (int (*)(void))dlsym(library, "Py_FinalizeEx");
    if (!initialize || !run || !finalize) return 1;
    initialize(0);
    double begin = thread_cpu();
    if (run(SCRIPT, NULL)) return 1;
    double embedded = thread_cpu() - begin;
    finalize();
    dlclose(library);
    double closed = after(0.3);
    printf("{\"embedded\":%.6f,\"after\":%.6f}\n", embedded, closed);
    return 0;
}
