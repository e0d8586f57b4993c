! Heat in a plate: each step needs the temperatures of the one before, which are kept in a second field.
module plate
  implicit none
  integer, parameter :: rows = 1400, columns = 1400, steps = 1440
  real(8), allocatable :: heat(:, :), old(:, :)

contains

  subroutine make_plate()
    integer :: row, column
    allocate (heat(0:rows + 1, 0:columns + 1), old(0:rows + 1, 0:columns + 1))
    !$omp parallel do private(row)
    do column = 0, columns + 1
      do row = 0, rows + 1
        heat(row, column) = mod(row * 7 + column * 13, 100)
        old(row, column) = 0
      end do
    end do
  end subroutine make_plate

  subroutine keep()
    old = heat ! FAULT: one thread copies the field in each step, while two fields could change places
  end subroutine keep

  subroutine spread_heat()
    integer :: row, column
    !$omp parallel do private(row) schedule(static)
    do column = 1, columns
      do row = 1, rows
        heat(row, column) = 0.6d0 * old(row, column) + 0.1d0 * (old(row - 1, column) + &
          old(row + 1, column) + old(row, column - 1) + old(row, column + 1))
      end do
    end do
  end subroutine spread_heat
end module plate

program warm_plate
  use omp_lib
  use plate
  implicit none
  integer :: step, threads, length, status
  character(16) :: text
  call get_command_argument(1, text, length, status)
  if (status == 0 .and. length > 0) then
    read (text, *) threads
    call omp_set_num_threads(threads)
  end if
  call make_plate()
  do step = 1, steps
    call keep()
    call spread_heat()
  end do
  print '(f0.6)', sum(heat(1:rows, 1:columns)) / (real(rows, 8) * columns)
end program warm_plate
