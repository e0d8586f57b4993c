! A drop of dye spreads in a basin: the amount in each cell follows that of its four neighbours.
module basin
  implicit none
  integer, parameter :: side = 2048, steps = 46
  real(8), allocatable :: dye(:, :), after(:, :)

contains

  subroutine make_dye()
    integer :: row, column
    allocate (dye(side, side), after(side, side))
    !$omp parallel do private(row)
    do column = 1, side
      do row = 1, side
        dye(row, column) = mod(row * 7 + column * 13, 101) / 10.0d0
        after(row, column) = dye(row, column)
      end do
    end do
  end subroutine make_dye

  subroutine spread(from, to)
    real(8), intent(in) :: from(:, :)
    real(8), intent(inout) :: to(:, :)
    integer :: row, column
    real(8) :: around
    !$omp parallel do private(column, around)
    do row = 2, side - 1
      do column = 2, side - 1 ! FAULT: the inner loop goes from column to column, across memory
        around = from(row - 1, column) + from(row + 1, column) + from(row, column - 1) + from(row, column + 1)
        to(row, column) = from(row, column) + 0.1d0 * (around - 4 * from(row, column))
      end do
    end do
  end subroutine spread

  function amount() result(total)
    real(8) :: total
    integer :: column
    total = 0
    do column = 1, side
      total = total + sum(dye(:, column))
    end do
  end function amount
end module basin

program drop
  use basin
  use omp_lib
  implicit none
  integer :: step, threads
  character(16) :: word
  call get_command_argument(1, word)
  read (word, *) threads
  call omp_set_num_threads(threads)
  call make_dye()
  do step = 1, steps, 2
    call spread(dye, after)
    call spread(after, dye)
  end do
  print '(f0.4)', amount()
end program drop
