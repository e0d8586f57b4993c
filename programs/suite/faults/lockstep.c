/* Pairs of processes: one prepares questions and sends them, the other answers them. */
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

enum { QUESTIONS = 700 };

static NOINLINE double prepare(int question) { return refine(question, 120000); }

static NOINLINE double answer(double question) { return refine(question, 120000); }

static NOINLINE void answer_all(int connection)
{
    double value;
    while (read(connection, &value, sizeof value) == sizeof value) {
        value = answer(value);
        if (write(connection, &value, sizeof value) != sizeof value)
            abort();
    }
}

static NOINLINE double ask_all(int connection)
{
    double sum = 0;
    for (int question = 0; question < QUESTIONS; question++) {
        double value = prepare(question);
        if (write(connection, &value, sizeof value) != sizeof value ||
            read(connection, &value, sizeof value) != sizeof value) /* FAULT: before the next is prepared */
            abort();
        sum += value;
    }
    return sum;
}

/* The child answers until its parent closes the connection. */
static double run_pair(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        abort();
    if (fork() == 0) {
        close(ends[0]);
        answer_all(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    double sum = ask_all(ends[0]);
    close(ends[0]);
    wait(NULL);
    return sum;
}

int main(void)
{
    int pairs = processors() / 2;
    for (int pair = 1; pair < pairs; pair++)
        if (fork() == 0)
            _exit(run_pair() < 0);
    printf("%.6f\n", run_pair());
    while (wait(NULL) > 0)
        ;
    return 0;
}
