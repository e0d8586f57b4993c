! Bodies attract each other: each thread has the same number of bodies, and each body meets all others.
module orbits
  implicit none
contains
  subroutine attract(place, force)
    real(8), intent(in) :: place(:, :)
    real(8), intent(out) :: force(:, :)
    real(8) :: away(3), pull(3)
    integer :: i, j
    !$omp do schedule(static)
    do i = 1, size(place, 2)
       pull = 0
       do j = 1, size(place, 2)
          away = place(:, j) - place(:, i)
          pull = pull + away / (sum(away * away) + 1d-3)**1.5d0
       end do
       force(:, i) = pull
    end do
    !$omp end do
  end subroutine attract

  subroutine advance(place, speed, force)
    real(8), intent(inout) :: place(:, :), speed(:, :)
    real(8), intent(in) :: force(:, :)
    integer :: i
    !$omp do schedule(static)
    do i = 1, size(place, 2)
       speed(:, i) = speed(:, i) + 1d-6 * force(:, i)
       place(:, i) = place(:, i) + 1d-3 * speed(:, i)
    end do
    !$omp end do
  end subroutine advance
end module orbits

program bodies
  use omp_lib
  use orbits
  implicit none
  integer, parameter :: count = 2400
  integer :: threads, step, steps, i
  character(len=16) :: word
  real(8) :: place(3, count), speed(3, count), force(3, count)
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  steps = 5 * max(2, omp_get_num_procs())
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  do i = 1, count
     place(:, i) = [modulo(i * 0.618d0, 1d0), modulo(i * 0.414d0, 1d0), modulo(i * 0.732d0, 1d0)]
  end do
  speed = 0
  !$omp parallel private(step)
  do step = 1, steps
     call attract(place, force)
     call advance(place, speed, force)
  end do
  !$omp end parallel
  print '(f14.6)', sum(place)
end program bodies
