/*
 * What a program says of its intervals: how often, and how long by its own clock.
 */
#pragma once
#include "../truth.h"
#include <stdio.h>

static int printed;

static void say(const char *label, double executions, double time_s)
{
    printf("%s\"%s\":{\"executions\":%.0f,\"time_s\":%.9f}", printed++ ? "," : "{\"intervals\":{", label,
           executions, time_s);
}

/* The last of it; how long recording was paused. */
static void said(double paused_s) { printf("},\"paused_s\":%.9f}\n", paused_s); }
