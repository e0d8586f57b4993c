! Charges in a crystal: ranks find the forces between all pairs and add them up, step after step.
module crystal
  use mpi
  implicit none
  integer, parameter :: charges = 2400
  real(8) :: place(3, charges), speed(3, charges), force(3, charges), summed(3, charges)

contains

  subroutine begin()
    integer :: charge
    do charge = 1, charges
      place(1, charge) = mod(charge * 7919, 1009) * 0.01d0
      place(2, charge) = mod(charge * 6007, 2003) * 0.01d0
      place(3, charge) = mod(charge * 3571, 4001) * 0.01d0
    end do
    speed = 0
  end subroutine begin

  subroutine add_pair(first, second)
    integer, intent(in) :: first, second
    real(8) :: between(3), square
    between = place(:, first) - place(:, second)
    square = sum(between**2) + 0.05d0
    between = between / (square * sqrt(square)) * merge(1, -1, mod(first + second, 2) == 0)
    force(:, first) = force(:, first) + between
    force(:, second) = force(:, second) - between
  end subroutine add_pair

  subroutine find_forces(rank, ranks)
    integer, intent(in) :: rank, ranks
    integer :: first, second
    force = 0
    do first = rank * charges / ranks + 1, (rank + 1) * charges / ranks ! FAULT: the first have most pairs
      do second = first + 1, charges
        call add_pair(first, second)
      end do
    end do
  end subroutine find_forces
end module crystal

program charged
  use crystal
  implicit none
  integer :: rank, ranks, step, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call begin()
  do step = 1, 60
    call find_forces(rank, ranks)
    call MPI_Allreduce(force, summed, 3 * charges, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    speed = speed + 1d-5 * summed
    place = place + 1d-3 * speed
  end do
  if (rank == 0) print '(f0.5)', sum(place) / charges
  call MPI_Finalize(ierror)
end program charged
