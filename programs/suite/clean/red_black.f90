! Gauss-Seidel with the points of a plate coloured red and black: columns of equal cost, divided evenly.
module plates
  implicit none
contains
  subroutine relax(plate, rows, columns, colour)
    integer, intent(in) :: rows, columns, colour
    real(8), intent(inout) :: plate(rows, columns)
    integer :: i, j
    !$omp parallel do schedule(static) private(i)
    do j = 2, columns - 1
       do i = 2 + mod(j + colour, 2), rows - 1, 2
          plate(i, j) = sqrt(0.25d0 * (plate(i - 1, j)**2 + plate(i + 1, j)**2 + plate(i, j - 1)**2 &
               + plate(i, j + 1)**2))
       end do
    end do
    !$omp end parallel do
  end subroutine relax
end module plates

program red_black
  use omp_lib
  use plates
  implicit none
  integer, parameter :: rows = 600
  integer :: threads, columns, sweep, j
  character(len=16) :: word
  real(8), allocatable :: plate(:, :)
  columns = 300 * max(2, omp_get_num_procs()) + 2
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  allocate (plate(rows, columns))
  !$omp parallel do schedule(static)
  do j = 1, columns
     plate(:, j) = dble(mod(j, 11))
  end do
  !$omp end parallel do
  do sweep = 1, 2000
     call relax(plate, rows, columns, 0)
     call relax(plate, rows, columns, 1)
  end do
  print '(f14.8)', plate(300, 200)
end program red_black
