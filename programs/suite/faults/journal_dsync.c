/* Threads book transfers; each notes what it has booked in a journal of its own. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "../suite.h"

#define TRANSFERS 300

static NOINLINE int open_journal(const char *folder, int number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/journal%d", folder, number);
    /* FAULT: each write waits for the disk, though a journal counts only when it is complete */
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_DSYNC, 0644);
    if (file < 0)
        abort();
    return file;
}

static NOINLINE void note(int file, int number, double balance)
{
    char line[512];
    int size = snprintf(line, sizeof line, "%06d %.6f %-400s\n", number, balance, "booked");
    if (write(file, line, (size_t)size) != size)
        abort();
}

struct teller {
    pthread_t thread;
    const char *folder;
    int number;
    double balance;
};

static void *book(void *argument)
{
    struct teller *teller = argument;
    int file = open_journal(teller->folder, teller->number);
    for (int number = 0; number < TRANSFERS; number++) {
        teller->balance = refine(teller->balance + number, 300000);
        note(file, number, teller->balance);
    }
    fsync(file);
    close(file);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    struct teller *tellers = calloc(threads, sizeof *tellers);
    double sum = 0;
    for (int i = 0; i < threads; i++) {
        tellers[i] = (struct teller){.folder = argc > 2 ? argv[2] : ".", .number = i, .balance = i};
        pthread_create(&tellers[i].thread, NULL, book, &tellers[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(tellers[i].thread, NULL);
        sum += tellers[i].balance;
    }
    printf("%.6f\n", sum);
    free(tellers);
    return 0;
}
