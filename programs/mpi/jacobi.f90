! The Jacobi iteration of jacobi.c in Fortran: work that all ranks repeat, a loop that is uneven on purpose,
! shadow edges, a reduction, and input and output by rank 0. Every rank keeps the begin and end of each of its
! operations; rank 0 computes from them what an analyser must find, and prints it as jacobi.c does.
! jacobi SECONDS
program jacobi
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi
    use proust
    implicit none
    integer, parameter :: steps = 8, most_ranks = 8, width = 1024, rows = 32, blocks = 12
    integer, parameter :: block_words = 512 * 1024
    integer, parameter :: start_reduction = 1, wait_reduction = 2, start_shadow = 3, wait_shadow = 4
    integer, parameter :: broadcast = 5, gather = 6, barrier = 7, kinds = 7
    character(len=15), parameter :: names(kinds) = [character(len=15) :: 'start_reduction', &
        'wait_reduction', 'start_shadow', 'wait_shadow', 'broadcast', 'gather', 'barrier']
    ! What one rank measures: wall, setup, loop, io; then begins and ends of each kind and step.
    integer, parameter :: numbers = 4 + 2 * kinds * steps
    integer, parameter :: at_wall = 1, at_setup = 2, at_loop = 3, at_io = 4

    real(real64) :: own(numbers), all_own(numbers, most_ranks)
    real(real64) :: a(width, 0:rows + 1), b(width, 0:rows + 1), values(width), collected(width * most_ranks)
    real(real64) :: seconds, from, change
    integer :: rank, ranks, error, unit
    integer(int64) :: count_of_name
    character(len=40) :: argument, name
    real(real64), allocatable :: block(:)

    allocate (block(block_words))
    block = 0
    own = 0
    a = 0
    b = 0
    call get_command_argument(1, argument)
    read (argument, *) seconds
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    if (ranks > most_ranks) call MPI_Abort(MPI_COMM_WORLD, 2, error)
    if (rank == 0) then
        call system_clock(count_of_name)
        write (name, '(a, i0)') '/tmp/jacobi-fortran-', count_of_name
        open (newunit=unit, file=name, access='stream', form='unformatted', status='replace', &
            action='readwrite')
        write (unit, pos=1) block
        write (unit) block
        flush (unit)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
    from = now()
    call proust_begin('jacobi')
    call setup(seconds * 0.4_real64)
    call input()
    change = iterate(seconds)
    call output()
    call proust_end('jacobi')
    own(at_wall) = now() - from
    call MPI_Gather(own, numbers, MPI_DOUBLE_PRECISION, all_own, numbers, MPI_DOUBLE_PRECISION, 0, &
        MPI_COMM_WORLD, error)
    if (rank == 0) then
        close (unit, status='delete')
        call print_all()
    end if
    call MPI_Finalize(error)

contains

    integer function at(kind, step)
        integer, intent(in) :: kind, step
        at = 4 + 2 * ((kind - 1) * steps + step - 1)
    end function

    subroutine begins(kind, step)
        integer, intent(in) :: kind, step
        own(at(kind, step) + 1) = now()
    end subroutine

    subroutine ends(kind, step)
        integer, intent(in) :: kind, step
        own(at(kind, step) + 2) = now()
    end subroutine

    ! By the clock, so that it is known however loaded the machine is.
    subroutine burn(length)
        real(real64), intent(in) :: length
        real(real64) :: until, x
        integer :: i
        until = now() + length
        x = 1
        do while (now() < until)
            do i = 1, 5000
                x = x * 1.0000001_real64 + 1e-9_real64
            end do
        end do
        if (x < 0) print *, x
    end subroutine

    ! Every rank does all of it.
    subroutine setup(length)
        real(real64), intent(in) :: length
        real(real64) :: begin
        begin = now()
        call proust_begin_replicated('setup', 0)
        call burn(length)
        a = 1
        call proust_end('setup')
        own(at_setup) = now() - begin
    end subroutine

    ! Rank 0 reads, and hands on what it has read.
    subroutine input()
        real(real64) :: begin
        integer :: n
        call proust_begin('input')
        if (rank == 0) then
            begin = now()
            do n = 1, blocks
                read (unit, pos=1) block
            end do
            values = block(1:width)
            own(at_io) = own(at_io) + now() - begin
        end if
        call begins(broadcast, 1)
        call MPI_Bcast(values, width, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
        call ends(broadcast, 1)
        call proust_end('input')
    end subroutine

    real(real64) function sweep(length) result(changed)
        real(real64), intent(in) :: length
        real(real64) :: begin
        integer :: i, j
        begin = now()
        call proust_begin_parallel('sweep')
        do
            changed = 0
            do j = 1, rows
                do i = 2, width - 1
                    b(i, j) = (a(i, j - 1) + a(i, j + 1) + a(i - 1, j) + a(i + 1, j)) / 4
                    changed = changed + abs(b(i, j) - a(i, j))
                end do
            end do
            if (now() - begin >= length) exit
        end do
        call proust_iterations(rows)
        call proust_end('sweep')
        own(at_loop) = own(at_loop) + now() - begin
    end function

    ! The edges travel while the inner part is computed.
    subroutine exchange(step, overlapped)
        integer, intent(in) :: step
        real(real64), intent(in) :: overlapped
        integer :: left, right, requests(4)
        left = rank - 1
        right = rank + 1
        if (rank == 0) left = MPI_PROC_NULL
        if (rank + 1 == ranks) right = MPI_PROC_NULL
        call begins(start_shadow, step)
        call MPI_Irecv(a(1, 0), width, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), error)
        call MPI_Irecv(a(1, rows + 1), width, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), &
            error)
        call MPI_Isend(b(1, 1), width, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(3), error)
        call MPI_Isend(b(1, rows), width, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(4), error)
        call ends(start_shadow, step)
        call burn(overlapped)
        call begins(wait_shadow, step)
        call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, error)
        call ends(wait_shadow, step)
    end subroutine

    ! Rank 0 does in full what the others do half of.
    real(real64) function iterate(length) result(changed)
        real(real64), intent(in) :: length
        real(real64) :: part, mine
        integer :: step, request
        part = length / steps
        changed = 0
        call proust_begin('iterate')
        do step = 1, steps
            mine = sweep(merge(part, part / 2, rank == 0))
            call exchange(step, part / 8)
            call begins(start_reduction, step)
            call MPI_Iallreduce(mine, changed, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, &
                error)
            call ends(start_reduction, step)
            call burn(part / 8)
            call begins(wait_reduction, step)
            call MPI_Wait(request, MPI_STATUS_IGNORE, error)
            call ends(wait_reduction, step)
        end do
        call begins(barrier, 1)
        call MPI_Barrier(MPI_COMM_WORLD, error)
        call ends(barrier, 1)
        call proust_end('iterate')
    end function

    ! Rank 0 collects, and writes.
    subroutine output()
        real(real64) :: begin
        integer :: n
        call proust_begin('output')
        call begins(gather, 1)
        call MPI_Gather(b(1, 1), width, MPI_DOUBLE_PRECISION, collected, width, MPI_DOUBLE_PRECISION, 0, &
            MPI_COMM_WORLD, error)
        call ends(gather, 1)
        if (rank == 0) then
            begin = now()
            block(1:width) = collected(1:width)
            do n = 1, blocks
                write (unit, pos=1) block
                flush (unit)
            end do
            own(at_io) = own(at_io) + now() - begin
        end if
        call proust_end('output')
    end subroutine

    ! Over the ranks that a rank exchanges its edges with, or over all.
    logical function meets(kind, one, other)
        integer, intent(in) :: kind, one, other
        meets = (kind /= start_shadow .and. kind /= wait_shadow) .or. abs(one - other) <= 1
    end function

    subroutine print_all()
        real(real64) :: inside, synchronization, variation, overlap, last_begin, last_end, last_start
        integer :: kind, step, p, q
        write (*, '(a,i0,a,i0,a,i0,a,i0)', advance='no') '{"ranks":', ranks, ',"steps":', steps, ',"rows":', &
            rows, ',"change":', merge(1, 0, change >= 0)
        call print_numbers('wall_s', at_wall)
        call print_numbers('setup_s', at_setup)
        call print_numbers('loop_s', at_loop)
        call print_numbers('io_s', at_io)
        do kind = 1, kinds
            inside = 0
            synchronization = 0
            variation = 0
            overlap = 0
            do step = 1, steps
                do p = 1, ranks
                    last_begin = 0
                    last_end = 0
                    last_start = 0
                    do q = 1, ranks
                        if (.not. meets(kind, p, q)) cycle
                        last_begin = max(last_begin, all_own(at(kind, step) + 1, q))
                        last_end = max(last_end, all_own(at(kind, step) + 2, q))
                        if (kind == wait_reduction .or. kind == wait_shadow) &
                            last_start = max(last_start, all_own(at(kind - 1, step) + 2, q))
                    end do
                    inside = inside + all_own(at(kind, step) + 2, p) - all_own(at(kind, step) + 1, p)
                    synchronization = synchronization + last_begin - all_own(at(kind, step) + 1, p)
                    variation = variation + last_end - all_own(at(kind, step) + 2, p)
                    if (last_start > 0) &
                        overlap = overlap + max(0d0, all_own(at(kind, step) + 1, p) - last_start)
                end do
            end do
            write (*, '(3a,f20.6,a,f20.6,a,f20.6,a,f20.6,a)', advance='no') ',"', trim(names(kind)), &
                '":{"communication_s":', inside, ',"synchronization_s":', synchronization, &
                ',"variation_s":', variation, ',"overlap_s":', overlap, '}'
        end do
        write (*, '(a)') '}'
    end subroutine

    subroutine print_numbers(field, position)
        character(len=*), intent(in) :: field
        integer, intent(in) :: position
        integer :: p
        write (*, '(3a)', advance='no') ',"', field, '":['
        do p = 1, ranks
            if (p > 1) write (*, '(a)', advance='no') ','
            write (*, '(f20.6)', advance='no') all_own(position, p)
        end do
        write (*, '(a)', advance='no') ']'
    end subroutine

    real(real64) function now()
        integer(int64) :: count, rate
        call system_clock(count, rate)
        now = real(count, real64) / real(rate, real64)
    end function
end program
