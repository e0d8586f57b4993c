/*
 * Loads a library that uses MPI, as interpreters do, for itself alone: neither this program nor what it
 * loaded at its start knows of MPI.
 * loader LIBRARY FOLDER
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc < 3 ? NULL : dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "loader LIBRARY FOLDER: %s\n", argc < 3 ? "arguments are missing" : dlerror());
        return 1;
    }
    int (*run)(int, char **) = (int (*)(int, char **))dlsym(library, "run_semantics");
    return run == NULL ? 2 : run(argc - 1, argv + 1);
}
