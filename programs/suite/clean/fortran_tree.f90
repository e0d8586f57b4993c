! The area below a curve, by halves: a task for each half, down to pieces of about a millisecond.
module curve
  implicit none
  integer, parameter :: points = 4096, depth = 10
contains
  real(8) function piece(low, high)
    real(8), intent(in) :: low, high
    integer :: point
    real(8) :: x
    piece = 0
    do point = 1, points
       x = low + (high - low) * (point - 0.5d0) / points
       piece = piece + sin(x) * sqrt(1 + x * x) * exp(-x / 9) * cos(3 * x) * (high - low) / points
    end do
  end function piece

  recursive real(8) function area(low, high, level) result(total)
    real(8), intent(in) :: low, high
    integer, intent(in) :: level
    real(8) :: left, right, middle
    if (level == 0) then
       total = piece(low, high)
       return
    end if
    middle = (low + high) / 2
    !$omp task shared(left)
    left = area(low, middle, level - 1)
    !$omp end task
    right = area(middle, high, level - 1)
    !$omp taskwait
    total = left + right
  end function area
end module curve

program areas
  use omp_lib
  use curve
  implicit none
  integer :: threads, strip
  character(len=16) :: word
  real(8) :: total
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  total = 0
  !$omp parallel
  !$omp single
  do strip = 1, 8 * max(2, omp_get_num_procs())
     total = total + area(strip - 1d0, strip * 1d0, depth)
  end do
  !$omp end single
  !$omp end parallel
  print '(f16.9)', total
end program areas
