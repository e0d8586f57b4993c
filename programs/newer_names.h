/* Names that not every program has, each with the version in which a library has it first. */
#define NAMES(X)                                                                                             \
    X(getrandom, "GLIBC_2.25") X(getentropy, "GLIBC_2.25") X(preadv64v2, "GLIBC_2.26")                       \
    X(renameat2, "GLIBC_2.28") X(mtx_lock, "GLIBC_2.28") X(cnd_wait, "GLIBC_2.28")                           \
    X(thrd_create, "GLIBC_2.28") X(getdents64, "GLIBC_2.30") X(sem_clockwait, "GLIBC_2.30")                  \
    X(pthread_mutex_clocklock, "GLIBC_2.30") X(pthread_cond_clockwait, "GLIBC_2.30")                         \
    X(pthread_clockjoin_np, "GLIBC_2.31") X(execveat, "GLIBC_2.34") X(epoll_pwait2, "GLIBC_2.35")            \
    X(__isoc23_scanf, "GLIBC_2.38") X(__isoc23_vfscanf, "GLIBC_2.38") X(GOMP_parallel, "GOMP_4.0")           \
    X(GOMP_barrier, "GOMP_1.0") X(omp_set_lock, "OMP_3.0") X(pthread_mutex_lock, "GLIBC_2.2.5")

/* Under another name here, since headers declare some of them. */
#define DECLARE(name, version) extern char weak_##name[] __asm__(#name) __attribute__((weak));
NAMES(DECLARE)

#define BY_WEAK_REFERENCE(one, version)                                                                      \
    if (strcmp(name, #one) == 0)                                                                             \
        return (void *)weak_##one;

/* Waits that are called where they are: of the C library, or null. */
extern int lock_by(void *mutex, int clock, const void *until) __asm__("pthread_mutex_clocklock")
    __attribute__((weak));
extern int semaphore_by(void *semaphore, int clock, const void *until) __asm__("sem_clockwait")
    __attribute__((weak));
extern int condition_by(void *condition, void *mutex, int clock, const void *until)
    __asm__("pthread_cond_clockwait") __attribute__((weak));
