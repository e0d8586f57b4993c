! A membrane is computed in strips, one for each rank, and short waves are taken out of the whole.
module membrane
  use mpi
  implicit none
  integer, parameter :: wide = 480, deep = 480, steps = 40
  real(8) :: whole(wide, deep), smooth(wide, deep)

contains

  subroutine bend(strip, columns)
    integer, intent(in) :: columns
    real(8), intent(inout) :: strip(wide, columns)
    integer :: x, y, turn
    do y = 1, columns
      do turn = 1, 6
        do x = 2, wide - 1
          strip(x, y) = 0.5d0 * strip(x, y) + 0.25d0 * sin(strip(x - 1, y) + strip(x + 1, y))
        end do
      end do
    end do
  end subroutine bend

  subroutine filter()
    integer :: x, y, turn
    do turn = 1, 14
      do y = 2, deep - 1
        do x = 2, wide - 1
          smooth(x, y) = 0.96d0 * whole(x, y) + 0.01d0 * (whole(x - 1, y) + whole(x + 1, y) &
            + whole(x, y - 1) + whole(x, y + 1)) * cos(whole(x, y))
        end do
      end do
      whole(2:wide - 1, 2:deep - 1) = smooth(2:wide - 1, 2:deep - 1)
    end do
  end subroutine filter
end module membrane

program waves
  use membrane
  implicit none
  integer :: rank, ranks, step, columns, x, y, ierror
  real(8), allocatable :: strip(:, :)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  columns = deep / ranks
  allocate (strip(wide, columns))
  do y = 1, columns
    do x = 1, wide
      strip(x, y) = mod(x * 31 + (y + rank * columns) * 17, 101) * 0.01d0
    end do
  end do
  do step = 1, steps
    call bend(strip, columns)
    call MPI_Gather(strip, wide * columns, MPI_DOUBLE_PRECISION, whole, wide * columns, &
      MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) call filter() ! FAULT: the first rank does it for all
    call MPI_Scatter(whole, wide * columns, MPI_DOUBLE_PRECISION, strip, wide * columns, &
      MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
  end do
  if (rank == 0) print '(f0.8)', sum(whole) / (wide * deep)
  call MPI_Finalize(ierror)
end program waves
