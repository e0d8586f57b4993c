/*
 * A program that calls the runtime from code that it makes itself, of which nobody can tell what it would
 * be bound to; with the runtimes loaded that its arguments name. Outside of any region, so that no region
 * says either.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    /* Calls its argument. */
    static const unsigned char calls[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    for (int i = 1; i < argc; i++)
        if (!dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL)) {
            fprintf(stderr, "nobody: %s\n", dlerror());
            return 2;
        }
    void *begin = dlsym(RTLD_DEFAULT, "GOMP_critical_start"), *end = dlsym(RTLD_DEFAULT, "GOMP_critical_end");
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!begin || !end || code == MAP_FAILED)
        return 3;
    memcpy(code, calls, sizeof calls);
    if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0)
        return 3;
    void (*call)(void *) = (void (*)(void *))code;
    int sections = 0;
    for (int i = 0; i < 1000; i++) {
        call(begin);
        sections++;
        call(end);
    }
    printf("%d sections\n", sections);
    return 0;
}
