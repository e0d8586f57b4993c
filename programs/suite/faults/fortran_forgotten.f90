! A flow in three steps: forces, pressure and transport; columns do not depend on each other.
module flow
  implicit none
  integer, parameter :: rows = 60
contains
  pure subroutine relax(column, rounds)
    real(8), intent(inout) :: column(rows)
    integer, intent(in) :: rounds
    integer :: i, round
    do round = 1, rounds
       do i = 1, rows
          column(i) = sqrt(column(i) * 1.0000001d0 + 0.75d0) + 0.1d0 / i
       end do
    end do
  end subroutine relax

  subroutine add_forces(field, columns)
    integer, intent(in) :: columns
    real(8), intent(inout) :: field(rows, columns)
    integer :: column
    !$omp parallel do
    do column = 1, columns
       call relax(field(:, column), 60)
    end do
    !$omp end parallel do
  end subroutine add_forces

  subroutine solve_pressure(field, columns)
    integer, intent(in) :: columns
    real(8), intent(inout) :: field(rows, columns)
    integer :: column
    do column = 1, columns ! FAULT: this loop was forgotten when the others were made parallel
       call relax(field(:, column), 50)
    end do
  end subroutine solve_pressure

  subroutine transport(field, columns)
    integer, intent(in) :: columns
    real(8), intent(inout) :: field(rows, columns)
    integer :: column
    !$omp parallel do
    do column = 1, columns
       call relax(field(:, column), 60)
    end do
    !$omp end parallel do
  end subroutine transport
end module flow

program flows
  use omp_lib
  use flow
  implicit none
  integer :: threads, step, columns
  character(len=16) :: word
  real(8), allocatable :: field(:, :)
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  columns = 200 * max(2, omp_get_num_procs())
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  allocate (field(rows, columns))
  field = 1
  do step = 1, 260
     call add_forces(field, columns)
     call solve_pressure(field, columns)
     call transport(field, columns)
  end do
  print '(es14.6)', sum(field)
end program flows
