! Forces between all pairs of bodies: rows get shorter, and are handed out a few at a time.
module bodies
  implicit none
contains
  subroutine forces(x, y, count, potential)
    integer, intent(in) :: count
    real(8), intent(in) :: x(count), y(count)
    real(8), intent(out) :: potential
    real(8) :: row
    integer :: i, j
    potential = 0
    !$omp parallel do schedule(dynamic, 20) private(row, j) reduction(+:potential)
    do i = 1, count
       row = 0
       do j = i + 1, count
          row = row + 1d0 / sqrt((x(i) - x(j)) ** 2 + (y(i) - y(j)) ** 2 + 1d-3)
       end do
       potential = potential + row
    end do
    !$omp end parallel do
  end subroutine forces
end module bodies

program pairs
  use omp_lib
  use bodies
  implicit none
  integer, parameter :: count = 6000
  integer :: threads, i, step, steps
  character(len=16) :: word
  real(8) :: x(count), y(count), potential, total
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  steps = 16 * max(2, omp_get_num_procs())
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  do i = 1, count
     x(i) = mod(i * 7919, 10007) / 1d2
     y(i) = mod(i * 104729, 10009) / 1d2
  end do
  total = 0
  do step = 1, steps
     call forces(x, y, count, potential)
     total = total + potential
     x(step) = x(step) + 0.25d0
  end do
  print '(es14.6)', total
end program pairs
