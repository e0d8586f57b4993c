! Orbits of comets are computed by all threads, and each is written to the catalogue, which is one file.
! Its fault: lines are formatted by a statement that writes to the shared unit, whose lock it holds meanwhile.
module comets
  use omp_lib
  implicit none
  integer, parameter :: number_of = 120000, points = 24

contains

  subroutine trace(comet, place)
    integer, intent(in) :: comet
    real(8), intent(out) :: place(points)
    real(8) :: anomaly, eccentric, shape
    integer :: point, round
    shape = 0.3d0 + 0.6d0 * mod(comet * 7919, 10007) / 10007
    do point = 1, points
      anomaly = 6.28d0 * point / points
      eccentric = anomaly
      do round = 1, 8
        eccentric = eccentric - (eccentric - shape * sin(eccentric) - anomaly) / (1 - shape * cos(eccentric))
      end do
      place(point) = (1 + mod(comet, 40)) * (cos(eccentric) - shape)
    end do
  end subroutine trace

  subroutine enter(unit, comet, place)
    integer, intent(in) :: unit, comet
    real(8), intent(in) :: place(points)
    write (unit, '(i8, 24f14.6)') comet, place ! FAULT: formats with the lock of the shared unit
  end subroutine enter

  subroutine make_catalogue(unit, threads)
    integer, intent(in) :: unit, threads
    real(8) :: place(points)
    integer :: comet
    !$omp parallel do num_threads(threads) private(place) schedule(static)
    do comet = 1, number_of
      call trace(comet, place)
      call enter(unit, comet, place)
    end do
  end subroutine make_catalogue
end module comets

program catalogue
  use comets
  implicit none
  integer :: threads, unit, bytes
  character(len=16) :: word
  threads = omp_get_num_procs()
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) threads
  end if
  open (newunit=unit, file='catalogue', status='replace', recl=400)
  call make_catalogue(unit, threads)
  close (unit)
  inquire (file='catalogue', size=bytes)
  print '(i0, a)', bytes, ' bytes'
end program catalogue
