! A lake cools down layer by layer; after each step the state of its shore replaces what is in a file.
module lake
  implicit none
  integer, parameter :: layers = 48, cells = 16000, steps = 160
contains
  subroutine cool(heat, step)
    real(8), intent(inout) :: heat(:, :)
    integer, intent(in) :: step
    integer :: column, layer
    !$omp parallel do schedule(static) private(layer)
    do column = 1, size(heat, 2)
       do layer = 1, layers
          heat(layer, column) = sqrt(heat(layer, column) * 0.99d0 + 0.01d0 * mod(step + layer, 7)) + 0.1d0
       end do
    end do
    !$omp end parallel do
  end subroutine cool

  subroutine write_state(path, heat, step)
    character(len=*), intent(in) :: path
    real(8), intent(in) :: heat(:, :)
    integer, intent(in) :: step
    integer :: unit
    open (newunit=unit, file=path, form='unformatted', access='stream', status='replace')
    write (unit) step, heat(1, 1:1000)
    close (unit)
  end subroutine write_state

  subroutine keep(heat, step)
    real(8), intent(in) :: heat(:, :)
    integer, intent(in) :: step
    call write_state('state.new', heat, step)
    call execute_command_line('mv state.new state') ! FAULT: a shell and a program for what is one call
  end subroutine keep
end module lake

program cooling
  use omp_lib
  use lake
  implicit none
  integer :: threads, step
  character(len=16) :: word
  real(8), allocatable :: heat(:, :)
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  allocate (heat(layers, cells * max(2, omp_get_num_procs())))
  heat = 20
  do step = 1, steps
     call cool(heat, step)
     call keep(heat, step)
  end do
  print '(f16.6)', sum(heat)
end program cooling
