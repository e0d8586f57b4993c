! A mesh without structure is divided between ranks, which send each other what lies at the border.
module mesh
  use mpi
  implicit none
  integer, parameter :: cells = 240000, border = 60000, steps = 700
  real(8) :: value(cells), ghost(border)
  integer :: places(border)

contains

  ! The cells at the border lie here and there in memory, and remain the same.
  subroutine make_mesh(rank)
    integer, intent(in) :: rank
    integer :: number
    do number = 1, cells
      value(number) = mod(number * 7 + rank, 23)
    end do
    do number = 1, border
      places(number) = 4 * (number - 1) + mod(number, 3)
    end do
    ghost = 0
  end subroutine make_mesh

  subroutine exchange(other)
    integer, intent(in) :: other
    integer :: edge, ierror
    ! FAULT: the same type is made, committed and freed again in each step
    call MPI_Type_create_indexed_block(border, 1, places, MPI_DOUBLE_PRECISION, edge, ierror)
    call MPI_Type_commit(edge, ierror)
    call MPI_Sendrecv(value, 1, edge, other, 1, ghost, border, MPI_DOUBLE_PRECISION, other, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Type_free(edge, ierror)
  end subroutine exchange

  subroutine advance()
    integer :: number
    do number = 1, cells
      value(number) = 0.9d0 * value(number) + 0.1d0 * ghost(1 + mod(number, border))
    end do
  end subroutine advance
end module mesh

program meshes
  use mesh
  implicit none
  integer :: rank, ranks, step, ierror
  real(8) :: total
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call make_mesh(rank)
  do step = 1, steps
    call exchange(mod(rank + ranks / 2, ranks))
    call advance()
  end do
  call MPI_Reduce(sum(value), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(f0.6)', total
  call MPI_Finalize(ierror)
end program meshes
