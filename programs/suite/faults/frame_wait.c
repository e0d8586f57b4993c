/* A camera, which is another process, sends pictures through a pipe; a team looks for the sharpest one.
   Its fault: the next picture is read when the last has been worked on, and the team waits for it. */
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

enum { SIDE = 512, FRAMES = 110, ROUNDS = 30 };

static float frame[SIDE][SIDE];

/* Exposes for some milliseconds when the one before has been taken, as the pipe holds a part of a picture. */
static void run_camera(int to)
{
    static float picture[SIDE][SIDE];
    uint64_t state = 88172645463325252;
    struct timespec exposure = {0, 9000000};
    for (int number = 0; number < FRAMES; number++) {
        nanosleep(&exposure, NULL);
        for (int i = 0; i < 4096; i++)
            picture[i / 8][next_random(&state) % SIDE] = (float)(i * number % 256);
        for (size_t at = 0; at < sizeof picture;) {
            ssize_t written = write(to, (char *)picture + at, sizeof picture - at);
            if (written <= 0)
                _exit(1);
            at += (size_t)written;
        }
    }
    _exit(0);
}

static NOINLINE int next_frame(int from)
{
    for (size_t at = 0; at < sizeof frame;) {
        ssize_t got = read(from, (char *)frame + at, sizeof frame - at); /* FAULT: nobody works meanwhile */
        if (got <= 0)
            return 0;
        at += (size_t)got;
    }
    return 1;
}

static NOINLINE double sharpness(int threads)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(threads)
    for (int row = 1; row < SIDE - 1; row++)
        for (int column = 1; column < SIDE - 1; column++) {
            double across = frame[row][column + 1] - frame[row][column - 1];
            double down = frame[row + 1][column] - frame[row - 1][column];
            sum += refine(across * across + down * down, ROUNDS);
        }
    return sum;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), ends[2], count = 0;
    double most = 0;
    if (pipe(ends) != 0)
        return 1;
    pid_t camera = fork();
    if (camera == 0)
        run_camera(ends[1]);
    close(ends[1]);
    while (next_frame(ends[0])) {
        double value = sharpness(threads);
        most = value > most ? value : most;
        count++;
    }
    waitpid(camera, NULL, 0);
    printf("%d pictures, sharpest %.3f\n", count, most);
    return 0;
}
