! A wave on a string of points with OpenMP: columns of equal cost, divided evenly.
module waves
  implicit none
contains
  subroutine advance(now, next, columns)
    integer, intent(in) :: columns
    real(8), intent(in) :: now(500, columns)
    real(8), intent(inout) :: next(500, columns)
    integer :: i, j
    !$omp parallel do schedule(static) private(i)
    do j = 2, columns - 1
       do i = 2, 499
          next(i, j) = sqrt(abs(now(i, j) + 0.1d0 * (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) &
               + now(i, j + 1) - 4d0 * now(i, j))))
       end do
    end do
    !$omp end parallel do
  end subroutine advance
end module waves

program stencil
  use omp_lib
  use waves
  implicit none
  integer :: threads, columns, step, j
  character(len=16) :: word
  real(8), allocatable :: one(:, :), other(:, :)
  columns = 400 * max(2, omp_get_num_procs()) + 2
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  allocate (one(500, columns), other(500, columns))
  !$omp parallel do schedule(static)
  do j = 1, columns
     one(:, j) = dble(mod(j, 7))
     other(:, j) = 0d0
  end do
  !$omp end parallel do
  do step = 1, 170
     call advance(one, other, columns)
     call advance(other, one, columns)
  end do
  print '(f12.6)', one(250, 200)
end program stencil
