! Profiles of the air are computed in blocks; what is needed on the way there is kept in a work array.
module air
  implicit none
  integer, parameter :: levels = 40, points = 131072
contains
  real(8) function profile(block)
    integer, intent(in) :: block
    real(8), allocatable :: work(:, :)
    integer :: level
    allocate (work(points, levels)) ! FAULT: memory from the system, and given back, for each block
    work(:, 1) = block
    do level = 2, levels
       work(:, level) = sqrt(work(:, level - 1) * 0.99d0 + 0.01d0 * level)
    end do
    profile = sum(work(:, levels)) / points
    deallocate (work)
  end function profile

  real(8) function all_blocks(first, last)
    integer, intent(in) :: first, last
    integer :: block
    all_blocks = 0
    !$omp parallel do schedule(dynamic) reduction(+ : all_blocks)
    do block = first, last
       all_blocks = all_blocks + profile(block)
    end do
    !$omp end parallel do
  end function all_blocks
end module air

program weather
  use omp_lib
  use air
  implicit none
  integer :: threads, blocks
  character(len=16) :: word
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  blocks = 32 * max(2, omp_get_num_procs())
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  print '(es14.6)', all_blocks(1, blocks)
end program weather
