! What MPI does, as a program in Fortran sees it. Each of two ranks writes FOLDER/rank-N, which must be the
! same with a tool that records the calls as without one.
! semantics-fortran FOLDER
program semantics
    use mpi
    implicit none
    integer, parameter :: lines = 10, many = 20
    integer :: rank, size, partner, error, provided
    character(len=1000) :: folder
    character(len=1) :: digit

    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    call get_command_argument(1, folder)
    if (size /= 2 .or. len_trim(folder) == 0) call MPI_Abort(MPI_COMM_WORLD, 3, error)
    partner = 1 - rank
    write (digit, '(i1)') rank
    open (unit=lines, file=trim(folder)//'/rank-'//digit, action='write', status='replace')
    write (lines, '(a,i0)') 'thread level ', provided
    call messages
    call requests
    call collectives
    call communicators
    call MPI_Finalize(error)
    write (lines, '(a,i0)') 'finalize ', error
    close (lines)

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(len=*), intent(in) :: what
        if (.not. holds) write (lines, '(a,a)') 'WRONG ', what
    end subroutine

    subroutine say(what, status)
        character(len=*), intent(in) :: what
        integer, intent(inout) :: status(MPI_STATUS_SIZE)
        integer :: bytes
        call MPI_Get_count(status, MPI_BYTE, bytes, error)
        write (lines, '(a,3(a,i0))') what, ' source ', status(MPI_SOURCE), ' tag ', status(MPI_TAG), &
            ' bytes ', bytes
    end subroutine

    subroutine messages
        integer :: numbers(4), got(8), status(MPI_STATUS_SIZE)
        logical :: is_there
        numbers = [1, 2, 3, 4] + 10*rank
        got = -1
        if (rank == 0) then
            call MPI_Send(numbers, 4, MPI_INTEGER, 1, 11, MPI_COMM_WORLD, error)
            call MPI_Ssend(numbers, 2, MPI_INTEGER, 1, 12, MPI_COMM_WORLD, error)
        else
            call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
            call say('probed', status)
            call MPI_Recv(got, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
            call say('received', status)
            call check(all(got(1:4) == [1, 2, 3, 4]), 'received numbers')
            call MPI_Recv(got, 8, MPI_INTEGER, 0, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        end if
        call MPI_Sendrecv(numbers, 4, MPI_INTEGER, partner, 1, got, 8, MPI_INTEGER, partner, 1, &
            MPI_COMM_WORLD, status, error)
        call say('sendrecv', status)
        call check(got(1) == 1 + 10*partner, 'sendrecv')
        call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, is_there, MPI_STATUS_IGNORE, error)
        call check(.not. is_there, 'nothing to probe')
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
        call MPI_Send(numbers, 1, MPI_INTEGER, 99, 1, MPI_COMM_WORLD, error)
        got(2) = error
        call MPI_Error_class(got(2), got(1), error)
        write (lines, '(a,i0)') 'class ', got(1)
    end subroutine

    ! Requests write what no statement shows: it is volatile.
    subroutine requests
        integer, volatile :: numbers(many)
        integer :: all(many), statuses(MPI_STATUS_SIZE, many), places(many)
        integer :: one, found, way, done
        integer, volatile :: number
        logical :: is_complete
        do way = 1, 7
            do one = 1, many
                numbers(one) = merge(1000 + one, -1, rank == 0)
                if (rank == 0) then
                    call MPI_Isend(numbers(one), 1, MPI_INTEGER, 1, one, MPI_COMM_WORLD, all(one), error)
                else
                    call MPI_Irecv(numbers(one), 1, MPI_INTEGER, MPI_ANY_SOURCE, one, MPI_COMM_WORLD, &
                        all(one), error)
                end if
            end do
            done = 0
            select case (way)
            case (1)
                call MPI_Waitall(many, all, statuses, error)
                if (rank == 1) call say('last', statuses(:, many))
            case (2)
                call MPI_Waitall(many, all, MPI_STATUSES_IGNORE, error)
            case (3)
                do one = 1, many
                    call MPI_Waitany(many, all, found, MPI_STATUS_IGNORE, error)
                    done = done + found
                end do
            case (4)
                one = 0
                do while (one < many)
                    call MPI_Waitsome(many, all, number, places, MPI_STATUSES_IGNORE, error)
                    one = one + number
                    done = done + sum(places(1:number))
                end do
            case (5)
                do one = 1, many
                    is_complete = .false.
                    do while (.not. is_complete)
                        call MPI_Test(all(one), is_complete, MPI_STATUS_IGNORE, error)
                    end do
                end do
            case (6)
                is_complete = .false.
                do while (.not. is_complete)
                    call MPI_Testall(many, all, is_complete, statuses, error)
                end do
            case (7)
                one = 0
                do while (one < many)
                    call MPI_Testsome(many, all, number, places, statuses, error)
                    one = one + number
                    done = done + sum(places(1:number))
                end do
            end select
            write (lines, '(a,i0,a,i0)') 'way ', way, ' done ', done
            do one = 1, many
                call check(all(one) == MPI_REQUEST_NULL, 'completed')
                call check(rank == 0 .or. numbers(one) == 1000 + one, 'numbers')
            end do
        end do
        call MPI_Recv_init(number, 1, MPI_INTEGER, partner, 5, MPI_COMM_WORLD, all(1), error)
        call MPI_Send_init(rank, 1, MPI_INTEGER, partner, 5, MPI_COMM_WORLD, all(2), error)
        do way = 1, 5
            number = -1
            call MPI_Startall(2, all, error)
            call MPI_Waitall(2, all, MPI_STATUSES_IGNORE, error)
            call check(number == partner .and. all(1) /= MPI_REQUEST_NULL, 'persistent')
        end do
        call MPI_Request_free(all(1), error)
        call MPI_Request_free(all(2), error)
    end subroutine

    subroutine collectives
        double precision :: numbers(3), total(3), gathered(6)
        integer :: request
        numbers = rank + [1d0, 2d0, 3d0]
        call MPI_Barrier(MPI_COMM_WORLD, error)
        call MPI_Allreduce(numbers, total, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
        call check(all(total == [3d0, 5d0, 7d0]), 'allreduce')
        total = numbers
        call MPI_Allreduce(MPI_IN_PLACE, total, 3, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
        call check(all(total == [2d0, 3d0, 4d0]), 'allreduce in place')
        gathered = -1
        gathered(3*rank + 1:3*rank + 3) = numbers
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gathered, 3, MPI_DOUBLE_PRECISION, &
            MPI_COMM_WORLD, error)
        call check(all(gathered == [1d0, 2d0, 3d0, 2d0, 3d0, 4d0]), 'allgather in place')
        call MPI_Ibcast(numbers, 3, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, request, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
        call check(all(numbers == [2d0, 3d0, 4d0]), 'ibcast')
        call MPI_Reduce(numbers, total, 3, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
        call check(rank == 1 .or. all(total == [4d0, 6d0, 8d0]), 'reduce')
    end subroutine

    subroutine communicators
        integer :: other, own, total
        call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, other, error)
        call MPI_Comm_rank(other, own, error)
        call check(own == partner, 'split')
        call MPI_Allreduce(own, total, 1, MPI_INTEGER, MPI_SUM, other, error)
        call check(total == 1, 'sum')
        call MPI_Comm_free(other, error)
        call check(other == MPI_COMM_NULL, 'freed')
        call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 0, rank == 0), 0, other, error)
        call check((other == MPI_COMM_NULL) .eqv. (rank == 0), 'left out')
    end subroutine
end program
