! Ranks of two threads that call MPI in a parallel region, by its first thread: rank 1 works longer, so that
! rank 0 waits for it in the region. region SECONDS
! Rank 0 prints for how long all ranks were in the exchange.
program region
    use, intrinsic :: iso_fortran_env, only: real64
    use mpi
    use omp_lib
    implicit none
    integer, parameter :: steps = 20
    real(real64) :: seconds, inside, all_inside
    integer :: rank, ranks, provided, error, step
    character(len=40) :: argument

    call get_command_argument(1, argument)
    read (argument, *) seconds
    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call omp_set_dynamic(.false.)
    call omp_set_num_threads(2)
    inside = 0
    do step = 1, steps
        !$omp parallel
        call work(seconds / steps * merge(1.0_real64, 0.25_real64, rank == 1))
        !$omp barrier
        !$omp master
        call exchange()
        !$omp end master
        !$omp barrier
        !$omp end parallel
    end do
    call MPI_Reduce(inside, all_inside, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (rank == 0) print '(a, f12.6, a)', '{"program":"region","exchange_s":', all_inside, '}'
    call MPI_Finalize(error)

contains

    subroutine exchange()
        real(real64) :: sent(8), received(8), from
        integer :: to
        sent = 1
        to = mod(rank + 1, ranks)
        from = MPI_Wtime()
        call MPI_Sendrecv(sent, 8, MPI_DOUBLE_PRECISION, to, 3, received, 8, MPI_DOUBLE_PRECISION, &
            mod(rank + ranks - 1, ranks), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        inside = inside + MPI_Wtime() - from
    end subroutine exchange

    subroutine work(cpu_s)
        real(real64), intent(in) :: cpu_s
        real(real64) :: begin, now, value
        integer :: i
        value = 1
        call cpu_of_thread(begin)
        do
            do i = 1, 2000
                value = value * 1.0000001_real64
            end do
            call cpu_of_thread(now)
            if (now - begin >= cpu_s .or. value < 0) exit
        end do
    end subroutine work

    ! Its own processor time: a thread that waits for a processor works no less.
    subroutine cpu_of_thread(cpu_s)
        use, intrinsic :: iso_c_binding, only: c_int, c_long
        real(real64), intent(out) :: cpu_s
        integer(c_int), parameter :: thread_clock = 3
        integer(c_long) :: time(2)
        integer(c_int) :: unused
        interface
            function clock_gettime(clock, at) bind(c) result(status)
                import :: c_int, c_long
                integer(c_int), value :: clock
                integer(c_long), intent(out) :: at(2)
                integer(c_int) :: status
            end function clock_gettime
        end interface
        unused = clock_gettime(thread_clock, time)
        cpu_s = real(time(1), real64) + 1e-9_real64 * real(time(2), real64)
    end subroutine cpu_of_thread
end program region
