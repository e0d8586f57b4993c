! Modes of a structure are turned by a matrix in each step, and their energies are summed up.
module modes
  implicit none
contains
  subroutine turn(matrix, from, to)
    real(8), intent(in) :: matrix(:, :), from(:, :)
    real(8), intent(out) :: to(:, :)
    !$omp parallel
    !$omp workshare
    to = matmul(matrix, from) ! FAULT: an intrinsic in a workshare is done by one thread
    !$omp end workshare
    !$omp end parallel
  end subroutine turn

  pure real(8) function damp(value)
    real(8), intent(in) :: value
    integer :: round
    damp = value
    do round = 1, 10
       damp = sqrt(damp * damp * 0.999d0 + 1d-6)
    end do
  end function damp

  real(8) function energy(field)
    real(8), intent(inout) :: field(:, :)
    integer :: i, j
    energy = 0
    !$omp parallel do reduction(+ : energy) private(i)
    do j = 1, size(field, 2)
       do i = 1, size(field, 1)
          field(i, j) = damp(field(i, j))
          energy = energy + field(i, j)
       end do
    end do
    !$omp end parallel do
  end function energy
end module modes

program structure
  use omp_lib
  use modes
  implicit none
  integer, parameter :: rows = 240
  integer :: threads, step, i, columns
  character(len=16) :: word
  real(8) :: matrix(rows, rows), sum_all
  real(8), allocatable :: field(:, :), turned(:, :)
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  columns = 400 * max(2, omp_get_num_procs())
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  allocate (field(rows, columns), turned(rows, columns))
  matrix = 0
  do i = 1, rows
     matrix(i, i) = 0.8d0
     matrix(i, mod(i, rows) + 1) = 0.2d0
  end do
  field = 1
  sum_all = 0
  do step = 1, 130
     call turn(matrix, field, turned)
     sum_all = sum_all + energy(turned)
     field = turned
  end do
  print '(es14.6)', sum_all
end program structure
