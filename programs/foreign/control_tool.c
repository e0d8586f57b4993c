/*
 * Requests to a tool by omp_control_tool, between stretches of the same length.
 * foreign-control-tool SECONDS
 */
#include "../truth.h"
#include <omp.h>
#include <stdio.h>

KEPT static void recorded(double for_s) 
{
    burn_cpu(for_s);
    __asm__ volatile("");
}
KEPT static void unrecorded(double for_s) 
{
    burn_cpu(for_s);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.6;
    int threads = 0;
#pragma omp parallel num_threads(2)
#pragma omp atomic
    threads++;
    int answers[4];
    recorded(seconds / 6);
    answers[0] = omp_control_tool(omp_control_tool_pause, 0, NULL);
    unrecorded(seconds / 6);
    answers[1] = omp_control_tool(omp_control_tool_start, 0, NULL);
    recorded(seconds / 6);
    answers[2] = omp_control_tool(omp_control_tool_flush, 0, NULL);
    recorded(seconds / 6);
    answers[3] = omp_control_tool(omp_control_tool_end, 0, NULL);
    unrecorded(seconds / 6);
    omp_control_tool(omp_control_tool_start, 0, NULL);
    unrecorded(seconds / 6);
    printf("{\"threads\":%d,\"answers\":[%d,%d,%d,%d],\"recorded_s\":%.6f}\n", threads, answers[0],
           answers[1], answers[2], answers[3], seconds / 2);
    return 0;
}
