! Blocks of a domain are divided among threads, but there is one block more than there are threads.
module domain
  implicit none
contains
  subroutine solve_blocks(cells, points, blocks)
    integer, intent(in) :: points, blocks
    real(8), intent(inout) :: cells(points, blocks)
    integer :: block, i, pass
    !$omp parallel do schedule(static, 1) private(i, pass) ! FAULT: one iteration more than threads
    do block = 1, blocks
       do pass = 1, 60
          do i = 1, points
             cells(i, block) = sqrt(cells(i, block) * 1.0000001d0 + 0.75d0) + 0.1d0
          end do
       end do
    end do
    !$omp end parallel do
  end subroutine solve_blocks
end module domain

program few
  use omp_lib
  use domain
  implicit none
  integer :: threads, step
  character(len=16) :: word
  real(8), allocatable :: cells(:, :)
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  allocate (cells(4000, threads + 1))
  cells = 1d0
  do step = 1, 350
     call solve_blocks(cells, 4000, threads + 1)
  end do
  print '(f12.6)', cells(1, 1)
end program few
