! Parts of a model are sections for the threads: the ocean takes four times as long as each of the others.
module model
  implicit none
contains
  subroutine advance(values, count, rounds)
    integer, intent(in) :: count, rounds
    real(8), intent(inout) :: values(count)
    integer :: i, round
    do round = 1, rounds
       do i = 1, count
          values(i) = sqrt(values(i) * 1.0000001d0 + 0.75d0) + 0.1d0
       end do
    end do
  end subroutine advance

  subroutine step_all(air, ocean, ice, count)
    integer, intent(in) :: count
    real(8), intent(inout) :: air(count), ocean(count), ice(count)
    !$omp parallel sections
    call advance(air, count, 25)
    !$omp section
    call advance(ocean, count, 100) ! FAULT: the others wait for this section
    !$omp section
    call advance(ice, count, 25)
    !$omp end parallel sections
  end subroutine step_all
end module model

program sections
  use omp_lib
  use model
  implicit none
  integer, parameter :: count = 4000
  integer :: threads, step
  character(len=16) :: word
  real(8) :: air(count), ocean(count), ice(count)
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  air = 1d0
  ocean = 2d0
  ice = 3d0
  do step = 1, 1500
     call step_all(air, ocean, ice, count)
  end do
  print '(3f12.6)', air(1), ocean(2), ice(3)
end program sections
