/*
 * Regions, kernels and a section of Kokkos, by its own library.
 * foreign-kokkos SECONDS
 */
extern "C" {
#include "said.h"
}
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ProfileSection.hpp>

static double seconds;

KEPT static void regions()
{
    double all = 0, kernels = 0;
    for (int n = 0; n < 3; n++) {
        double begin = wall();
        Kokkos::Profiling::pushRegion("step");
        burn_cpu(seconds / 12);
        double kernel_begin = wall();
        Kokkos::parallel_for("sweep", 3, KOKKOS_LAMBDA(int) { burn_cpu(seconds / 36); });
        kernels += wall() - kernel_begin;
        Kokkos::Profiling::popRegion();
        all += wall() - begin;
    }
    say("step", 3, all);
    say("sweep", 3, kernels);
}

KEPT static void reduced()
{
    double begin = wall(), sum = 0;
    Kokkos::parallel_reduce(
        "sum", 2, KOKKOS_LAMBDA(int n, double &part) { burn_cpu(seconds / 12); part += n; }, sum);
    say("sum", 1, wall() - begin);
}

int main(int argc, char **argv)
{
    seconds = argc > 1 ? atof(argv[1]) : 0.6;
    Kokkos::initialize(argc, argv);
    regions();
    reduced();
    {
        Kokkos::Profiling::ProfilingSection section("section");
        double begin = wall();
        section.start();
        burn_cpu(seconds / 6);
        section.stop();
        say("section", 1, wall() - begin);
    }
    Kokkos::Profiling::popRegion(); /* one too many */
    Kokkos::finalize();
    said(0);
    return 0;
}
