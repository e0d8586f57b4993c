/* A camera, which is another process, takes a picture when it is asked to; a team works on each picture.
   Its fault: the next picture is asked for when the last is done with, and the team waits for it. */
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

enum { SIDE = 512, FRAMES = 90, ROUNDS = 20 };

static float frame[SIDE][SIDE];

/* Exposes for some milliseconds when it is asked to, and sends the picture. */
static void run_camera(int from, int to)
{
    static float picture[SIDE][SIDE];
    uint64_t state = 88172645463325252;
    struct timespec exposure = {0, 9000000};
    char number;
    while (read(from, &number, 1) == 1) {
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

static NOINLINE void next_frame(int from, int to, char number)
{
    if (write(to, &number, 1) != 1) /* FAULT: asks only now, so that nobody works meanwhile */
        exit(1);
    for (size_t at = 0; at < sizeof frame;) {
        ssize_t got = read(from, (char *)frame + at, sizeof frame - at);
        if (got <= 0)
            exit(1);
        at += (size_t)got;
    }
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
    int threads = threads_asked(argc, argv), asked[2], sent[2];
    double most = 0;
    if (pipe(asked) != 0 || pipe(sent) != 0)
        return 1;
    pid_t camera = fork();
    if (camera == 0) {
        close(asked[1]);
        run_camera(asked[0], sent[1]);
    }
    for (int number = 0; number < FRAMES; number++) {
        next_frame(sent[0], asked[1], (char)number);
        double value = sharpness(threads);
        most = value > most ? value : most;
    }
    close(asked[1]);
    waitpid(camera, NULL, 0);
    printf("%d pictures, sharpest %.3f\n", FRAMES, most);
    return 0;
}
