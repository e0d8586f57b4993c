! Smoke spreads over a town: it drifts and mixes, and in each step its chemistry is found for each cell.
module town
  implicit none
  integer, parameter :: wide = 700, deep = 700, steps = 100
  real(8) :: smoke(wide, deep), next(wide, deep), ozone(wide, deep)

contains

  subroutine spread_smoke(threads)
    integer, intent(in) :: threads
    integer :: x, y, turn
    real(8) :: flow
    !$omp parallel do num_threads(threads) schedule(static) private(x, turn, flow)
    do y = 2, deep - 1
      do x = 2, wide - 1
        flow = smoke(x, y)
        do turn = 1, 6
          flow = 0.6d0 * flow + 0.1d0 * sqrt(smoke(x - 1, y) + smoke(x + 1, y) + smoke(x, y - 1) &
            + smoke(x, y + 1) + flow)
        end do
        next(x, y) = flow
      end do
    end do
    !$omp end parallel do
  end subroutine spread_smoke

  subroutine react()
    integer :: x, y
    do y = 2, deep - 1 ! FAULT: this loop is left to one thread
      do x = 2, wide - 1
        ozone(x, y) = ozone(x, y) + exp(-next(x, y)) * 1d-3 + log(1 + ozone(x, y)) * 1d-4
        smoke(x, y) = next(x, y) * exp(-1d-3 * ozone(x, y)) + 1d-4 * cos(ozone(x, y))
      end do
    end do
  end subroutine react
end module town

program plume
  use town
  implicit none
  integer :: step, threads
  character(len=16) :: given
  call get_command_argument(1, given)
  read (given, *) threads
  smoke = 0
  next = 0
  ozone = 0.5d0
  smoke(300:320, 300:320) = 10
  do step = 1, steps
    call spread_smoke(threads)
    call react()
  end do
  print '(f0.8)', sum(ozone) / (wide * deep)
end program plume
