! A model that all threads advance; every few steps it is written out as text.
module model
  implicit none
contains
  subroutine advance(values, count)
    integer, intent(in) :: count
    real(8), intent(inout) :: values(count)
    integer :: i, round
    !$omp parallel do schedule(static) private(round)
    do i = 1, count
       do round = 1, 60
          values(i) = sqrt(values(i) * 1.0000001d0 + 0.75d0) + 0.1d0
       end do
    end do
    !$omp end parallel do
  end subroutine advance

  subroutine dump(unit, values, count)
    integer, intent(in) :: unit, count
    real(8), intent(in) :: values(count)
    integer :: i
    do i = 1, count
       write (unit, '(i8, f18.12)') i, values(i) ! FAULT: one thread makes all the text and the others wait
    end do
  end subroutine dump
end module model

program run_model
  use omp_lib
  use model
  implicit none
  integer :: threads, count, i, step, unit
  character(len=16) :: word
  real(8), allocatable :: values(:)
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  count = 30000 * max(2, omp_get_num_procs())
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  allocate (values(count))
  do i = 1, count
     values(i) = mod(i, 1000)
  end do
  open (newunit=unit, file='dump', action='write', status='replace')
  do step = 1, 60
     call advance(values, count)
     if (mod(step, 6) == 0) call dump(unit, values, count)
  end do
  close (unit)
  print '(f18.12)', sum(values) / count
end program run_model
