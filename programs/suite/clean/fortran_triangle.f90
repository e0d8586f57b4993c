! Correlations of stations: row i has the pairs of station i with all before it, so rows get longer.
module correlations
  use omp_lib
  implicit none
  integer, parameter :: stations = 1500, days = 2400

contains

  subroutine make_series(series)
    real(8), intent(out) :: series(days, stations)
    integer :: station, day
    do station = 1, stations
      do day = 1, days
        series(day, station) = sin(0.01d0 * day * (1 + mod(station, 7))) + 0.1d0 * mod(day * station, 13)
      end do
      series(:, station) = series(:, station) - sum(series(:, station)) / days
      series(:, station) = series(:, station) / sqrt(sum(series(:, station)**2))
    end do
  end subroutine make_series

  subroutine correlate(series, table, threads)
    real(8), intent(in) :: series(days, stations)
    real(8), intent(inout) :: table(stations, stations)
    integer, intent(in) :: threads
    integer :: i, j
    !$omp parallel do num_threads(threads) schedule(static, 1) private(j)
    do i = 1, stations
      do j = 1, i
        table(j, i) = correlation(series(:, i), series(:, j))
      end do
    end do
  end subroutine correlate

  real(8) function correlation(a, b)
    real(8), intent(in) :: a(days), b(days)
    integer :: day
    correlation = 0
    do day = 1, days
      correlation = correlation + a(day) * b(day)
    end do
  end function correlation
end module correlations

program triangle
  use correlations
  implicit none
  real(8), allocatable :: series(:, :), table(:, :)
  character(len=16) :: word
  integer :: threads
  threads = omp_get_num_procs()
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) threads
  end if
  allocate (series(days, stations), table(stations, stations))
  table = 0
  call make_series(series)
  call correlate(series, table, threads)
  print '(f12.4)', sum(table)
end program triangle
