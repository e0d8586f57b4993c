! Counters of a telescope's lines: each line sums up what it sees at all places of the sky, pass after pass.
module telescope
  implicit none
  integer, parameter :: lines = 64, places = 96, passes = 22000
  real(8) :: seen(lines, places), gain(places)

contains

  ! A line's sums are those in its row of the field.
  subroutine sweep()
    integer :: line, place, pass
    ! FAULT: lines that are neighbours in memory go to different threads, which share all cache lines
    !$omp parallel do schedule(static, 1) private(place, pass)
    do line = 1, lines
      do pass = 1, passes
        do place = 1, places
          seen(line, place) = seen(line, place) * 0.999d0 + gain(place)
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine sweep
end module telescope

program night
  use omp_lib
  use telescope
  implicit none
  integer :: place, sweeps, threads, length, status
  character(16) :: text
  call get_command_argument(1, text, length, status)
  if (status == 0 .and. length > 0) then
    read (text, *) threads
    call omp_set_num_threads(threads)
  end if
  seen = 0
  do place = 1, places
    gain(place) = 0.01d0 * mod(place * 7, 13)
  end do
  do sweeps = 1, 6
    call sweep()
  end do
  print '(f0.6)', sum(seen) / places
end program night
