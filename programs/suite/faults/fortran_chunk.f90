! Layers of an atmosphere, each column by itself; the size of a chunk was once right for a finer grid.
module layers
  implicit none
contains
  pure function column(start, rounds) result(value)
    real(8), intent(in) :: start
    integer, intent(in) :: rounds
    real(8) :: value
    integer :: i
    value = start
    do i = 1, rounds
       value = sqrt(value * 1.0000001d0 + 0.75d0) + 0.1d0
    end do
  end function column

  subroutine radiate(field, count, chunk)
    integer, intent(in) :: count, chunk
    real(8), intent(inout) :: field(count)
    integer :: i
    !$omp parallel do schedule(static, chunk) ! FAULT: a last chunk half as large as the first ones
    do i = 1, count
       field(i) = column(field(i), 14000)
    end do
    !$omp end parallel do
  end subroutine radiate

  subroutine advect(field, count)
    integer, intent(in) :: count
    real(8), intent(inout) :: field(count)
    integer :: i
    !$omp parallel do schedule(static)
    do i = 1, count
       field(i) = column(field(i), 4000)
    end do
    !$omp end parallel do
  end subroutine advect
end module layers

program atmosphere
  use omp_lib
  use layers
  implicit none
  integer :: threads, step, count, share
  character(len=16) :: word
  real(8), allocatable :: field(:)
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  share = 240
  count = share * max(2, omp_get_num_procs())
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  allocate (field(count))
  field = 1
  do step = 1, 25
     call advect(field, count)
     call radiate(field, count, share * 8 / 5)
  end do
  print '(es14.6)', sum(field)
end program atmosphere
