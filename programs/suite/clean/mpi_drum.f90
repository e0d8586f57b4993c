! The skin of a drum swings: ranks have equal strips of it and exchange their edges in each step.
module drum
  use mpi
  implicit none
  integer, parameter :: width = 1000, height = 800, steps = 250
  real(8), allocatable :: before(:, :), now(:, :), after(:, :), work(:, :)
  integer :: rank, ranks, rows

contains

  subroutine strike()
    integer :: row, column
    real(8) :: away
    do row = 0, rows + 1
      do column = 1, width
        away = (column - 300)**2 + (rank * rows + row - 350)**2
        now(column, row) = exp(-away / 900)
      end do
    end do
    before = now
    after = 0
  end subroutine strike

  subroutine exchange()
    integer :: lower, upper, ierror
    lower = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    upper = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    call MPI_Sendrecv(now(1, 1), width, MPI_DOUBLE_PRECISION, lower, 1, now(1, rows + 1), width, &
      MPI_DOUBLE_PRECISION, upper, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Sendrecv(now(1, rows), width, MPI_DOUBLE_PRECISION, upper, 2, now(1, 0), width, &
      MPI_DOUBLE_PRECISION, lower, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end subroutine exchange

  subroutine swing()
    integer :: row, column
    real(8) :: pull
    do row = 1, rows
      do column = 2, width - 1
        pull = now(column - 1, row) + now(column + 1, row) + now(column, row - 1) + now(column, row + 1)
        pull = pull - 4 * now(column, row)
        after(column, row) = 2 * now(column, row) - before(column, row) + 0.2d0 * pull / sqrt(1 + pull * pull)
      end do
    end do
    call move_alloc(before, work)
    call move_alloc(now, before)
    call move_alloc(after, now)
    call move_alloc(work, after)
  end subroutine swing
end module drum

program drummer
  use drum
  implicit none
  integer :: step, ierror
  real(8) :: own, total
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  rows = height / ranks
  allocate (before(width, 0:rows + 1), now(width, 0:rows + 1), after(width, 0:rows + 1))
  call strike()
  do step = 1, steps
    call exchange()
    call swing()
  end do
  own = sum(abs(now(:, 1:rows)))
  call MPI_Reduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(f0.4)', total
  call MPI_Finalize(ierror)
end program drummer
