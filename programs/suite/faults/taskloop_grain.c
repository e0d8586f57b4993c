/* Frames of a film are filtered one after the other, the lines of a frame by tasks. */
#include "../suite.h"

enum { LINES = 540, WIDTH = 64, FRAMES = 46, GRAIN = 720 };

static NOINLINE double filter_line(const double *line, int frame)
{
    double sum = 0;
    for (int i = 0; i < WIDTH; i++)
        sum += refine(line[i] + frame, 55);
    return sum;
}

static NOINLINE double filter_frame(const double *picture, double *sums, size_t lines, int frame)
{
    double sum = 0;
#pragma omp taskloop grainsize(GRAIN) /* FAULT: so large that there are hardly any tasks in a frame */
    for (size_t line = 0; line < lines; line++)
        sums[line] = filter_line(picture + line * WIDTH, frame);
    for (size_t line = 0; line < lines; line++)
        sum += sums[line];
    return sum;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    size_t lines = LINES * processors();
    double *picture = calloc(lines * WIDTH, sizeof *picture), *sums = calloc(lines, sizeof *sums);
    double sum = 0;
    for (size_t i = 0; i < lines * WIDTH; i++)
        picture[i] = i % 1013;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int frame = 0; frame < FRAMES; frame++)
        sum += filter_frame(picture, sums, lines, frame);
    printf("%.6f\n", sum);
    free(picture);
    free(sums);
    return 0;
}
