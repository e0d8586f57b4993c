! Rain gauges report by turns, and what they report is spread over the cells of a map near them.
module rain
  implicit none
  integer, parameter :: side = 400, near = 2
contains
  real(8) function strength(gauge, step)
    integer, intent(in) :: gauge, step
    integer :: round
    strength = mod(gauge * 7919_8 + step, 10007_8)
    do round = 1, 60
       strength = sqrt(strength * 1.0000001d0 + 0.75d0) + 0.1d0
    end do
  end function strength

  subroutine add_reports(map, gauges, step)
    real(8), intent(inout) :: map(side, side)
    integer, intent(in) :: gauges, step
    integer :: gauge, row, column
    real(8) :: amount
    !$omp parallel do schedule(static) private(amount, row, column) &
    !$omp& reduction(+:map) ! FAULT: each thread clears and adds a whole map of its own, in each step
    do gauge = 1, gauges
       amount = strength(gauge, step)
       row = near + 1 + int(mod(gauge * 7919_8, int(side - 2 * near, 8)))
       column = near + 1 + int(mod(gauge * 104729_8 + step, int(side - 2 * near, 8)))
       map(row - near:row + near, column - near:column + near) = &
            map(row - near:row + near, column - near:column + near) + amount
    end do
    !$omp end parallel do
  end subroutine add_reports
end module rain

program gauges
  use omp_lib
  use rain
  implicit none
  integer :: threads, step
  character(len=16) :: word
  real(8), allocatable :: map(:, :)
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  allocate (map(side, side))
  map = 0
  do step = 1, 4000 * max(2, omp_get_num_procs())
     call add_reports(map, 150, step)
  end do
  print '(es14.6)', sum(map) / step
end program gauges
