! Tides of an ocean: ranks share the rows of a map and exchange the edges of their parts in each step.
! Its fault: they have equal numbers of rows, but nearly all the sea is in the south, which the last rank has.
module ocean
  use mpi
  implicit none
  integer, parameter :: columns = 600, rows = 400, steps = 900
  real(8) :: level(columns, 0:rows + 1) = 0
  logical :: is_sea(columns, rows)

contains

  subroutine make_map()
    integer :: row, column
    do row = 1, rows
      do column = 1, columns
        is_sea(column, row) = mod(column * 31 + row * 17, rows) < row * 5 / 4 - 100
        if (is_sea(column, row)) level(column, row) = mod(column, 5)
      end do
    end do
  end subroutine make_map

  subroutine advance(rank, ranks)
    integer, intent(in) :: rank, ranks
    integer :: row, column
    real(8) :: around, flow
    do row = rank * rows / ranks + 1, (rank + 1) * rows / ranks ! FAULT: equal numbers of rows, not of sea
      do column = 2, columns - 1
        if (.not. is_sea(column, row)) cycle
        around = level(column - 1, row) + level(column + 1, row)
        around = around + level(column, row - 1) + level(column, row + 1)
        flow = tanh(0.25d0 * around - level(column, row)) + 0.01d0 * sin(around)
        level(column, row) = level(column, row) + 0.5d0 * flow
      end do
    end do
  end subroutine advance

  subroutine exchange(rank, ranks)
    integer, intent(in) :: rank, ranks
    integer :: north, south, first, last, ierror
    north = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    south = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    first = rank * rows / ranks + 1
    last = (rank + 1) * rows / ranks
    call MPI_Sendrecv(level(1, first), columns, MPI_DOUBLE_PRECISION, north, 1, level(1, last + 1), columns, &
      MPI_DOUBLE_PRECISION, south, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Sendrecv(level(1, last), columns, MPI_DOUBLE_PRECISION, south, 2, level(1, first - 1), columns, &
      MPI_DOUBLE_PRECISION, north, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end subroutine exchange
end module ocean

program tides
  use ocean
  implicit none
  integer :: rank, ranks, step, ierror
  real(8) :: own, total
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call make_map()
  do step = 1, steps
    call exchange(rank, ranks)
    call advance(rank, ranks)
  end do
  own = sum(level(:, rank * rows / ranks + 1:(rank + 1) * rows / ranks))
  call MPI_Reduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(f0.6)', total
  call MPI_Finalize(ierror)
end program tides
