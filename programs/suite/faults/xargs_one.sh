#!/bin/sh
# Reports of a year are packed, as many at a time as there are processors, and the packed size is printed.
# xargs_one.sh PROCESSORS FOLDER
count=$1
folder=$2

# The reports of the first weeks.
list_reports()
{
    find "$folder" -type f | sort | head -n 24
}

pack_all()
{
    # FAULT: all reports go to one process, since there are fewer than a process may get
    xargs -P "$count" -n 100 gzip -6 -c
}

list_reports | pack_all | wc -c
