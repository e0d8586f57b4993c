! Parallel regions in Fortran whose losses are known: a loop of which one half takes three times as long as
! the other, and a lock.
! Argument 1: seconds of work of the busier thread.
program regions
    use omp_lib
    use iso_fortran_env, only: int64
    implicit none
    integer, parameter :: threads = 2
    character(len=32) :: argument
    real(8) :: seconds, begun, finished(0:threads - 1), worked(0:threads - 1), waited, locked(0:threads - 1)
    integer(omp_lock_kind) :: lock
    integer :: i

    seconds = 0.5d0
    if (command_argument_count() > 0) then
        call get_command_argument(1, argument)
        read (argument, *) seconds
    end if
    call omp_set_dynamic(.false.)
    call omp_set_num_threads(threads)
    call omp_init_lock(lock)
    worked = 0
    locked = 0
    !$omp parallel
    !$omp do schedule(static, 1)
    do i = 0, threads - 1
        call work(merge(seconds, seconds / 3, i == 0), worked(omp_get_thread_num()))
    end do
    !$omp end do nowait
    finished(omp_get_thread_num()) = omp_get_wtime()
    !$omp end parallel
    begun = omp_get_wtime()
    waited = sum(begun - finished)
    !$omp parallel private(i)
    do i = 1, 10
        call locked_work(lock, seconds / 20, worked(omp_get_thread_num()), locked(omp_get_thread_num()))
    end do
    !$omp end parallel
    call omp_destroy_lock(lock)
    print '(a,f12.6,a,f12.6,a,f12.6,a)', '{"work_s":', sum(worked), ',"wait_s":', waited, &
        ',"lock_s":', sum(locked), '}'

contains

    subroutine locked_work(lock, seconds, worked, locked)
        integer(omp_lock_kind), intent(inout) :: lock
        real(8), intent(in) :: seconds
        real(8), intent(inout) :: worked, locked
        real(8) :: since

        since = omp_get_wtime()
        call omp_set_lock(lock)
        locked = locked + omp_get_wtime() - since
        call work(seconds, worked)
        call omp_unset_lock(lock)
    end subroutine

    ! Until so much processor time has passed; what it took by the wall clock is added.
    subroutine work(seconds, worked)
        real(8), intent(in) :: seconds
        real(8), intent(inout) :: worked
        real(8) :: begin
        integer(int64) :: x, step, left

        begin = omp_get_wtime()
        x = 1
        left = int(seconds * 5.0d8, int64)
        do step = 1, left
            x = ieor(x * 1664525_int64 + 1013904223_int64, ishft(x, -7))
        end do
        if (x == 42) print *, 'unlikely'
        worked = worked + omp_get_wtime() - begin
    end subroutine
end program
