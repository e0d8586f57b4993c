/* Clients keep their connections open for a while; a server has one thread and serves one after the other. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../suite.h"

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int sessions_each;

static NOINLINE double answer(double value) { return refine(value, 20000); }

static NOINLINE double prepare(double value) { return refine(value, 60000); }

static NOINLINE void serve(int listener, int sessions)
{
    for (int session = 0; session < sessions; session++) {
        int connection = accept(listener, NULL, NULL);
        double value;
        while (read(connection, &value, sizeof value) == sizeof value) { /* FAULT: the others wait */
            value = answer(value);
            if (write(connection, &value, sizeof value) != sizeof value)
                abort();
        }
        close(connection);
    }
}

static NOINLINE void talk(double *value)
{
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0)
        abort();
    for (int question = 0; question < 10; question++) {
        *value = prepare(*value);
        if (write(connection, value, sizeof *value) != sizeof *value ||
            read(connection, value, sizeof *value) != sizeof *value)
            abort();
    }
    close(connection);
}

static void *visit(void *argument)
{
    for (int session = 0; session < sessions_each; session++)
        talk(argument);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    double *values = calloc((size_t)threads * 16, sizeof *values), sum = 0;
    sessions_each = 160 * processors() / threads;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", "socket");
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0)
        return 1;
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, visit, values + 16 * i);
    serve(listener, sessions_each * threads);
    for (int i = 0; i < threads; i++) {
        pthread_join(team[i], NULL);
        sum += values[16 * i];
    }
    close(listener);
    unlink("socket");
    printf("%.6f\n", sum);
    free(team);
    free(values);
    return 0;
}
