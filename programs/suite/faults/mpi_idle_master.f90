! Spectra of stars are fitted: the first rank hands out the stars, and the others ask for the next one.
module spectra
  use mpi
  implicit none
  integer, parameter :: stars = 1500, lines = 96, rounds = 600, ask = 1, give = 2

contains

  ! Temperature of a star, found by small steps that fit its lines better and better.
  real(8) function fit(star)
    integer, intent(in) :: star
    integer :: round, line
    real(8) :: temperature, slope, wanted, seen
    temperature = 1d0 + mod(star * 31, 97) / 97d0
    do round = 1, rounds
      slope = 0
      do line = 1, lines
        wanted = sin(0.1d0 * line) + mod(star + line, 7) * 0.01d0
        seen = exp(-0.05d0 * line / temperature)
        slope = slope + (wanted - seen) * seen / lines
      end do
      temperature = temperature + 0.01d0 * slope
    end do
    fit = temperature
  end function fit

  ! One star for each request, and 0 when there are no more.
  subroutine hand_out(ranks)
    integer, intent(in) :: ranks
    integer :: next, star, working, ierror, status(MPI_STATUS_SIZE)
    real(8) :: temperature, total
    next = 1
    working = ranks - 1
    total = 0
    do while (working > 0)
      ! FAULT: this rank waits for requests all the time and fits no star itself
      call MPI_Recv(temperature, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, ask, MPI_COMM_WORLD, status, ierror)
      total = total + temperature
      star = merge(next, 0, next <= stars)
      if (star == 0) working = working - 1
      next = next + 1
      call MPI_Send(star, 1, MPI_INTEGER, status(MPI_SOURCE), give, MPI_COMM_WORLD, ierror)
    end do
    print '(f0.6)', total
  end subroutine hand_out

  subroutine work()
    integer :: star, ierror
    real(8) :: temperature
    temperature = 0
    do
      call MPI_Send(temperature, 1, MPI_DOUBLE_PRECISION, 0, ask, MPI_COMM_WORLD, ierror)
      call MPI_Recv(star, 1, MPI_INTEGER, 0, give, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      if (star == 0) exit
      temperature = fit(star)
    end do
  end subroutine work
end module spectra

program stars_of_night
  use spectra
  implicit none
  integer :: rank, ranks, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  if (rank == 0) then
    call hand_out(ranks)
  else
    call work()
  end if
  call MPI_Finalize(ierror)
end program stars_of_night
