! Rain over a globe: in each hour clouds are computed for all latitudes, and there are most near the poles
! of this planet's northern side.
module globe
  implicit none
  integer, parameter :: longitudes = 180, latitudes = 90, levels = 20
  real(8) :: water(levels, longitudes, latitudes), rain(longitudes, latitudes)

contains

  subroutine begin()
    integer :: latitude, longitude, level
    rain = 0
    do latitude = 1, latitudes
      do longitude = 1, longitudes
        do level = 1, levels
          water(level, longitude, latitude) = 0.5d0 + 0.01d0 * mod(level * 7 + longitude * 3 + latitude, 50)
        end do
      end do
    end do
  end subroutine begin

  ! Drops grow in small steps where there is much water.
  subroutine rain_column(column, fallen, substeps)
    real(8), intent(inout) :: column(levels), fallen
    integer, intent(in) :: substeps
    real(8) :: drop
    integer :: substep, level
    do substep = 1, substeps
      do level = levels, 2, -1
        drop = 0.02d0 * column(level) * sqrt(column(level)) / (1 + column(level - 1))
        column(level) = column(level) - drop
        column(level - 1) = column(level - 1) + drop
      end do
      drop = 0.1d0 * column(1)
      column(1) = column(1) - drop
      column(levels) = column(levels) + drop
      fallen = fallen + drop
    end do
  end subroutine rain_column

  subroutine step_hour()
    integer :: latitude, longitude, substeps
    !$omp parallel do schedule(static) private(longitude, substeps) ! FAULT: equal parts of unequal work
    do latitude = 1, latitudes
      substeps = 1 + 12 * max(0, latitude - latitudes / 2) / (latitudes / 2)
      do longitude = 1, longitudes
        call rain_column(water(:, longitude, latitude), rain(longitude, latitude), substeps)
      end do
    end do
    !$omp end parallel do
  end subroutine step_hour
end module globe

program rains
  use omp_lib
  use globe
  implicit none
  character(len=16) :: word
  integer :: threads, hour
  call get_command_argument(1, word)
  read (word, *) threads
  call omp_set_num_threads(threads)
  call begin()
  do hour = 1, 90
    call step_hour()
  end do
  print '(f0.6)', sum(rain)
end program rains
