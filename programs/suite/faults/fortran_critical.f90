! Charges are spread over the cells near them; how much a cell gets depends on a weight that takes a while.
module charges
  implicit none
  integer, parameter :: cells = 512, near = 3
contains
  real(8) function weight(place, cell)
    real(8), intent(in) :: place
    integer, intent(in) :: cell
    integer :: round
    weight = abs(place - cell)
    do round = 1, 200
       weight = sqrt(weight * 1.0000001d0 + 0.75d0) + 0.1d0
    end do
  end function weight

  real(8) function move(charge)
    integer, intent(in) :: charge
    integer :: round
    move = mod(charge * 7919_8, 10007_8)
    do round = 1, 500
       move = sqrt(move * 1.0000001d0 + 0.75d0) + 0.1d0
    end do
    move = 4 + mod(move * 1.0d7, real(cells - 8, 8))
  end function move

  subroutine spread_all(grid, count)
    real(8), intent(inout) :: grid(cells)
    integer, intent(in) :: count
    integer :: charge, cell
    real(8) :: place
    !$omp parallel do schedule(static) private(place, cell)
    do charge = 1, count
       place = move(charge)
       !$omp critical (spreading) ! FAULT: the weights are computed while others must not enter
       do cell = int(place) - near, int(place) + near
          grid(cell) = grid(cell) + weight(place, cell)
       end do
       !$omp end critical (spreading)
    end do
    !$omp end parallel do
  end subroutine spread_all
end module charges

program field
  use omp_lib
  use charges
  implicit none
  integer :: threads
  character(len=16) :: word
  real(8) :: grid(cells)
  threads = 0
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) threads
  if (threads <= 0) threads = max(2, omp_get_num_procs())
  call omp_set_num_threads(threads)
  grid = 0
  call spread_all(grid, 45000 * max(2, omp_get_num_procs()))
  print '(es14.6)', sum(grid)
end program field
