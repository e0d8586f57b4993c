/* A program that has functions of the C library's names itself and calls those behind them, as Erlang's
   machine does: every handler runs on the alternate stack. Prints how often its handler and each function
   ran. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static int actions, masks, opened, handled;

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        abort();
    return found;
}

int __sigaction(int number, const struct sigaction *wanted, struct sigaction *before)
{
    int (*real)(int, const struct sigaction *, struct sigaction *) = next("__sigaction");
    actions++;
    if (wanted == NULL || wanted->sa_handler == SIG_DFL || wanted->sa_handler == SIG_IGN)
        return real(number, wanted, before);
    struct sigaction changed = *wanted;
    changed.sa_flags |= SA_ONSTACK;
    return real(number, &changed, before);
}

int sigaction(int number, const struct sigaction *wanted, struct sigaction *before)
{
    return __sigaction(number, wanted, before);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    int (*real)(int, const sigset_t *, sigset_t *) = next("sigprocmask");
    masks++;
    return real(how, set, before);
}

int open64(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...) = next("open64");
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    opened++;
    return real(path, flags, mode);
}

static void on_signal(int number) { handled += number == SIGUSR1; }

int main(void)
{
    struct sigaction wanted = {.sa_handler = on_signal}, known;
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &wanted, NULL) != 0)
        return 1;
    signal(SIGUSR2, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (int i = 0; i < 100; i++) {
        if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 || raise(SIGUSR1) != 0 ||
            sigprocmask(SIG_UNBLOCK, &set, NULL) != 0)
            return 2;
        int file = open64("/dev/null", O_RDONLY, 0);
        if (file < 0 || close(file) != 0)
            return 3;
    }
    if (sigaction(SIGUSR1, NULL, &known) != 0 || known.sa_handler != on_signal)
        return 4;
    printf("%d handled, %d actions, %d masks, %d opened, flags %x\n", handled, actions, masks, opened,
           (unsigned)known.sa_flags & SA_ONSTACK);
    return 0;
}
