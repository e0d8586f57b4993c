/* Spectra of many short signals: how strong each frequency is in each of them, by the plain transform. */
#include <omp.h>

#include "../suite.h"

enum { SIGNALS = 9000, SAMPLES = 256, FREQUENCIES = 128 };

static double *make_signals(void)
{
    uint64_t state = 88172645463325252;
    double *signals = malloc(sizeof *signals * SIGNALS * SAMPLES);
    for (int signal = 0; signal < SIGNALS; signal++) {
        double level = 0;
        for (int sample = 0; sample < SAMPLES; sample++) {
            level = 0.9 * level + (double)(next_random(&state) % 2001) / 1000 - 1;
            signals[signal * SAMPLES + sample] = level;
        }
    }
    return signals;
}

static NOINLINE double strength(const double *samples, int frequency)
{
    double real = 0, imaginary = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double turn = 2 * M_PI * (frequency * i % SAMPLES) / SAMPLES;
        real += samples[i] * cos(turn); /* FAULT: the same few sines and cosines for each signal again */
        imaginary -= samples[i] * sin(turn);
    }
    return real * real + imaginary * imaginary;
}

static NOINLINE int loudest(const double *samples)
{
    int best = 1;
    double most = 0;
    for (int frequency = 1; frequency < FREQUENCIES; frequency++) {
        double found = strength(samples, frequency);
        if (found > most) {
            most = found;
            best = frequency;
        }
    }
    return best;
}

int main(int argc, char **argv)
{
    double *signals = make_signals();
    int counts[FREQUENCIES] = {0}, *found = malloc(sizeof *found * SIGNALS);
#pragma omp parallel for num_threads(threads_asked(argc, argv)) schedule(dynamic, 8)
    for (int signal = 0; signal < SIGNALS; signal++)
        found[signal] = loudest(signals + signal * SAMPLES);
    for (int signal = 0; signal < SIGNALS; signal++)
        counts[found[signal]]++;
    for (int frequency = 1; frequency < 6; frequency++)
        printf("%d ", counts[frequency]);
    printf("of %d\n", SIGNALS);
    free(found);
    free(signals);
    return 0;
}
