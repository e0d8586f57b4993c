! Intervals that ranks mark by messages to themselves, as a program in Fortran does. Each rank times them by
! MPI_Wtime; rank 0 prints the sums.
! marks-fortran SECONDS
program marks
    use mpi
    implicit none
    integer, parameter :: count = 5
    ! 0xAA0001AA and 0xAA0001BB, and those of intervals 2, 300, 40000 and 5.
    integer, parameter :: begins(count) = [-1442840150, -1442839894, -1442763606, -1432600406, -1442839126]
    integer, parameter :: ends(count) = [-1442840133, -1442839877, -1442763589, -1432600389, -1442839109]
    character(len=5), parameter :: names(count) = ['1    ', '2    ', '300  ', '40000', '5    ']
    double precision :: seconds, began, times(count), sums(count)
    integer :: executions(count), all(count), rank, error, at, wrong, all_wrong, turn
    character(len=40) :: argument

    times = 0
    executions = 0
    wrong = 0
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call get_command_argument(1, argument)
    read (argument, *) seconds
    do turn = 1, 2
        do at = 1, count
            call mark(begins(at), at)
            began = MPI_Wtime()
            call work(seconds/10)
            times(at) = times(at) + MPI_Wtime() - began
            executions(at) = executions(at) + 1
            call mark(ends(at), at)
        end do
    end do
    ! Recording pauses and continues.
    call MPI_Pcontrol(0)
    call unwanted(seconds/5)
    call MPI_Pcontrol(1)
    call MPI_Reduce(times, sums, count, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
    call MPI_Reduce(executions, all, count, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
    call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (rank == 0) then
        write (*, '(a,i0,a)', advance='no') '{"wrong": ', all_wrong, ', "intervals": {'
        do at = 1, count
            if (at > 1) write (*, '(a)', advance='no') ', '
            write (*, '(3a,i0,a,f12.6,a)', advance='no') '"interval[', trim(names(at)), &
                ']": {"executions": ', all(at), ', "time_s": ', sums(at), '}'
        end do
        write (*, '(a)') '}}'
    end if
    call MPI_Finalize(error)

contains

    ! A message to itself, each interval in another way.
    subroutine mark(tag, way)
        integer, intent(in) :: tag, way
        integer :: sent, got, status(MPI_STATUS_SIZE), requests(2), statuses(MPI_STATUS_SIZE, 2)
        sent = 7 + rank
        got = -1
        select case (way)
        case (1)
            call MPI_Send(sent, 1, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, error)
            call MPI_Recv(got, 1, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, status, error)
            if (got /= sent .or. status(MPI_SOURCE) /= rank .or. status(MPI_TAG) /= tag) wrong = wrong + 1
        case (2)
            call MPI_Sendrecv(sent, 1, MPI_INTEGER, 0, tag, got, 1, MPI_INTEGER, 0, tag, MPI_COMM_SELF, &
                status, error)
            if (got /= sent .or. status(MPI_SOURCE) /= 0 .or. status(MPI_TAG) /= tag) wrong = wrong + 1
        case (3)
            call MPI_Isend(sent, 1, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, requests(1), error)
            call MPI_Irecv(got, 1, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, requests(2), error)
            call MPI_Waitall(2, requests, statuses, error)
            if (any(requests /= MPI_REQUEST_NULL)) wrong = wrong + 1
        case (5)
            call MPI_Send_init(sent, 1, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, requests(1), error)
            call MPI_Recv_init(got, 1, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, requests(2), error)
            call MPI_Startall(2, requests, error)
            call MPI_Waitall(2, requests, statuses, error)
            if (got /= sent) wrong = wrong + 1
            call MPI_Request_free(requests(1), error)
            call MPI_Request_free(requests(2), error)
        case (4)
            call MPI_Ssend(sent, 1, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, error)
            call MPI_Recv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
            if (got /= sent) wrong = wrong + 1
        end select
    end subroutine

    subroutine work(length)
        double precision, intent(in) :: length
        double precision :: until
        until = MPI_Wtime() + length
        do while (MPI_Wtime() < until)
        end do
    end subroutine

    subroutine unwanted(length)
        double precision, intent(in) :: length
        call work(length)
    end subroutine
end program
