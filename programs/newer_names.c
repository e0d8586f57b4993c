/*
 * Names that only newer C libraries have: how the program sees each of them. A line for each: the name, whether a weak
 * reference finds it, and whether dlsym does by default, behind the program, and in the C library itself. What is there is
 * not called.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#define NAMES(X)                                                                                             \
    X(getentropy) X(getrandom) X(preadv64v2) X(renameat2) X(mtx_lock) X(cnd_wait) X(thrd_create)             \
    X(getdents64) X(sem_clockwait) X(pthread_mutex_clocklock) X(pthread_cond_clockwait)                      \
    X(pthread_clockjoin_np) X(execveat) X(epoll_pwait2) X(__isoc23_scanf) X(__isoc23_vfscanf)

/* Under another name here, since headers declare some of them. */
#define DECLARE(name) extern char weak_##name[] __asm__(#name) __attribute__((weak));
NAMES(DECLARE)

static int finds(void *where, const char *name)
{
    return dlsym(where, name) != NULL;
}

int main(void)
{
    void *library = dlopen("libc.so.6", RTLD_NOW);
#define PRINT(name)                                                                                          \
    printf("%s weak:%d default:%d next:%d handle:%d\n", #name, (void *)weak_##name != NULL,                         \
           finds(RTLD_DEFAULT, #name), finds(RTLD_NEXT, #name), finds(library, #name));
    NAMES(PRINT)
    return library == NULL;
}
