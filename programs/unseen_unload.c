/*
 * unseen_unload CALLER OTHER: opens CALLER, a library that refers to OpenMP and has not called it yet,
 * closes it by the function of the C library's own handle, and opens and closes OTHER, which stays open,
 * a few times.
 */
#include <dlfcn.h>
#include <stdlib.h>

int main(int count, char **words)
{
    if (count != 3)
        return 2;
    void *library = dlopen("libc.so.6", RTLD_NOW);
    int (*close_unseen)(void *) = (int (*)(void *))dlsym(library, "dlclose");
    void *stays = dlopen(words[2], RTLD_NOW), *caller = dlopen(words[1], RTLD_LAZY);
    if (!close_unseen || !stays || !caller)
        return 3;
    dlclose(dlopen(words[2], RTLD_NOW));
    close_unseen(caller);
    for (int i = 0; i < 5; i++)
        dlclose(dlopen(words[2], RTLD_NOW));
    return EXIT_SUCCESS;
}
