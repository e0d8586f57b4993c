/*
 * Code and stacks from unusual places: another namespace of the dynamic linker, code made at run time,
 * libraries that come and go under several threads, coroutines switched by hand, threads whose stacks lie
 * in the heap.
 * hostile_code [CASE …]
 */
#include "hostile.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

typedef uint64_t work_function(uint64_t x, uint64_t steps);

static work_function *work_of(void *library, const char *name)
{
    return library == NULL ? NULL : (work_function *)dlsym(library, name);
}

static void works(work_function *work, double seconds)
{
    double until = thread_cpu() + seconds;
    while (thread_cpu() < until)
        kept_result = work(kept_result, 50 * UNIT);
}

static void another_namespace(void)
{
    void *library = dlmopen(LM_ID_NEWLM, "libplugin_a.so", RTLD_NOW);
    if (library == NULL)
        NOT_HERE("the plugins are not built");
    work_function *work = work_of(library, "plugin_a_work");
    CHECK(work != NULL);
    works(work, 0.15);
    CHECK(work_of(RTLD_DEFAULT, "plugin_a_work") == NULL);
    CHECK_IS(dlclose(library), 0);
}

static void *opens_and_closes(void *name)
{
    char function[32];
    long failed = 0;
    snprintf(function, sizeof function, "plugin_%s_work", (char *)name);
    for (int i = 0; i < 50; i++) {
        char file[32];
        snprintf(file, sizeof file, "libplugin_%s.so", (char *)name);
        void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        work_function *work = work_of(library, function);
        if (work != NULL)
            kept_result = work(kept_result, 10 * UNIT);
        failed += work == NULL || dlclose(library) != 0;
    }
    return (void *)failed;
}

/* At one address one library after the other, also while the handler looks. */
static void libraries_come_and_go(void)
{
    pthread_t threads[4];
    void *failed;
    long all = 0;
    if (dlopen("libplugin_a.so", RTLD_NOW | RTLD_NOLOAD) == NULL &&
        dlopen("libplugin_b.so", RTLD_NOW) == NULL)
        NOT_HERE("the plugins are not built");
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, opens_and_closes, i % 2 ? "a" : "b");
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        all += (long)failed;
    }
    CHECK_IS(all, 0);
    CHECK(dlopen("no-such-library.so", RTLD_NOW) == NULL);
    const char *said = dlerror();
    CHECK(said != NULL && strstr(said, "no-such-library.so") != NULL);
    CHECK(dlerror() == NULL);
}

/* A loop that counts its first argument down; no unwind tables, no frame pointer. */
static const unsigned char countdown[] = {0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3};

static void code_made_at_run_time(void)
{
    unsigned char *code = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long sum = 0;
    for (int round = 0; round < 20; round++) {
        unsigned char *at = code + 512 * round;
        mprotect(code, 65536, PROT_READ | PROT_WRITE);
        memcpy(at, countdown, sizeof countdown);
        mprotect(code, 65536, PROT_READ | PROT_EXEC);
        sum += ((long (*)(long))at)(20000000);
    }
    CHECK_IS(sum, 0);
    /* Gone, and something else in its place. */
    munmap(code, 65536);
    unsigned char *again = mmap(code, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy(again + 100, countdown, sizeof countdown);
    CHECK_IS(((long (*)(long))(again + 100))(50000000), 0);
    munmap(again, 65536);
}

/* A switch of stacks that no library knows of. */
__asm__(".text\n.globl switch_stacks\n.type switch_stacks,@function\nswitch_stacks:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size switch_stacks,.-switch_stacks\n");
void switch_stacks(void **from, void *to);

enum { COROUTINES = 8, COROUTINE_BYTES = 16384 };
static void *home, *coroutines[COROUTINES];
static int switches;

static void coroutine(void)
{
    for (;;) {
        int mine = switches % COROUTINES;
        uint64_t x = kept_result;
        BURN(x, 20 * UNIT);
        kept_result = x;
        struct timespec moment = {0, 1000};
        nanosleep(&moment, NULL);
        switch_stacks(&coroutines[mine], home);
    }
}

static void hand_made_coroutines(void)
{
    unsigned char *memory[COROUTINES];
    for (int i = 0; i < COROUTINES; i++) {
        /* Half of them inside the heap, half in mappings that end where the stack begins. */
        memory[i] =
            i % 2 ? malloc(COROUTINE_BYTES)
                  : mmap(NULL, COROUTINE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        void **top = (void **)(((uintptr_t)memory[i] + COROUTINE_BYTES) & ~(uintptr_t)15);
        /* As if called: the stack pointer is 8 more than a multiple of 16. */
        *--top = NULL;
        *--top = (void *)coroutine;
        coroutines[i] = top - 6;
    }
    for (switches = 0; switches < 1000; switches++)
        switch_stacks(&home, coroutines[switches % COROUTINES]);
    CHECK_IS(switches, 1000);
    for (int i = 0; i < COROUTINES; i++) {
        if (i % 2)
            free(memory[i]);
        else
            munmap(memory[i], COROUTINE_BYTES);
    }
}

static void *burns_a_little(void *argument)
{
    burn_cpu(0.05);
    return argument;
}

static void stacks_in_the_heap(void)
{
    enum { BYTES = 65536 };
    int ended = 0;
    for (int i = 0; i < 4; i++) {
        void *memory = malloc(BYTES + 16), *result;
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, (void *)(((uintptr_t)memory + 15) & ~(uintptr_t)15), BYTES);
        pthread_create(&thread, &attributes, burns_a_little, memory);
        pthread_join(thread, &result);
        ended += result == memory;
        pthread_attr_destroy(&attributes);
        free(memory);
    }
    CHECK_IS(ended, 4);
}

static KEPT void *deep(void *levels)
{
    volatile char room[2000];
    long level = (long)levels;
    room[0] = (char)level;
    if (level == 0) {
        burn_cpu(0.05);
        return NULL;
    }
    void *result = deep((void *)(level - 1));
    return room[0] == (char)level ? result : (void *)1;
}

static void small_thread_stacks(void)
{
    long wrong_results = 0;
    for (int i = 0; i < 4; i++) {
        pthread_attr_t attributes;
        pthread_t thread;
        void *result;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 16384 + (i % 2) * 49152);
        pthread_create(&thread, &attributes, deep, (void *)(long)(i % 2 ? 20 : 2));
        pthread_join(thread, &result);
        wrong_results += result != NULL;
    }
    CHECK_IS(wrong_results, 0);
}

static void addresses_stay_what_they_are(void)
{
    Dl_info info;
    /* Who asks for a hooked function's address gets one that works and has its name. */
    CHECK(dladdr(dlsym(RTLD_DEFAULT, "pthread_mutex_lock"), &info) != 0 && info.dli_sname != NULL);
    CHECK(dlsym(RTLD_DEFAULT, "no_such_function_anywhere") == NULL);
    CHECK(dlerror() != NULL);
    CHECK(dlvsym(RTLD_DEFAULT, "memcpy", "GLIBC_2.14") != NULL);
}

int main(int argc, char **argv)
{
    static const struct hostile_case cases[] = {CASE(another_namespace),
                                                CASE(libraries_come_and_go),
                                                CASE(code_made_at_run_time),
                                                CASE(hand_made_coroutines),
                                                CASE(stacks_in_the_heap),
                                                CASE(small_thread_stacks),
                                                CASE(addresses_stay_what_they_are),
                                                {NULL, NULL}};
    return run_cases(cases, argc, argv);
}
