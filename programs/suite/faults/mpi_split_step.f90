! Layers of the air over a coast: ranks with the same layer have a mean in common, which pulls at each column.
module coast
  use mpi
  implicit none
  integer, parameter :: columns = 500, steps = 80000
  real(8) :: warmth(columns)

contains

  subroutine make_layer(rank)
    integer, intent(in) :: rank
    integer :: column
    do column = 1, columns
      warmth(column) = 280 + mod(column * 17 + rank * 5, 23) / 2.0d0
    end do
  end subroutine make_layer

  function mean_of_layer(layer, rank) result(mean)
    integer, intent(in) :: layer, rank
    real(8) :: mean, own, total
    integer :: group, ranks, ierror
    call MPI_Comm_split(MPI_COMM_WORLD, layer, rank, group, ierror) ! FAULT: the same groups in each step
    call MPI_Comm_size(group, ranks, ierror)
    own = sum(warmth)
    call MPI_Allreduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, group, ierror)
    call MPI_Comm_free(group, ierror)
    mean = total / (columns * ranks)
  end function mean_of_layer

  subroutine advance(mean)
    real(8), intent(in) :: mean
    integer :: column
    do column = 1, columns
      warmth(column) = warmth(column) + 0.02d0 * tanh(mean - warmth(column)) + 0.01d0 * sin(warmth(column))
    end do
  end subroutine advance
end module coast

program air
  use coast
  implicit none
  integer :: rank, step, ierror
  real(8) :: own, total
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call make_layer(rank)
  do step = 1, steps
    call advance(mean_of_layer(rank / 2, rank))
  end do
  own = sum(warmth)
  call MPI_Reduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(f0.6)', total
  call MPI_Finalize(ierror)
end program air
