! A pulse runs along a rope that all ranks share. The ends of a part are on their way while the rank computes
! what does not need them; all parts have the same length.
module rope
  use mpi
  implicit none
  integer, parameter :: all_points = 40000, steps = 12500
  integer :: points
  real(8), allocatable :: height(:), before(:), next(:)

contains

  subroutine make_part(rank, ranks)
    integer, intent(in) :: rank, ranks
    integer :: point
    points = all_points / ranks
    allocate (height(0:points + 1), before(0:points + 1), next(0:points + 1))
    do point = 0, points + 1
      height(point) = exp(-((rank * points + point - all_points / 2) / 900.0d0)**2)
    end do
    before = height
  end subroutine make_part

  subroutine begin_exchange(rank, ranks, requests)
    integer, intent(in) :: rank, ranks
    integer, intent(out) :: requests(4)
    integer :: left, right, ierror
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    call MPI_Irecv(height(0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Irecv(height(points + 1), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Isend(height(points), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Isend(height(1), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(4), ierror)
  end subroutine begin_exchange

  subroutine advance(first, last)
    integer, intent(in) :: first, last
    integer :: point
    real(8) :: pull
    do point = first, last
      pull = height(point - 1) - 2 * height(point) + height(point + 1)
      next(point) = 2 * height(point) - before(point) + 0.2d0 * tanh(pull)
    end do
  end subroutine advance

  subroutine turn()
    before(1:points) = height(1:points)
    height(1:points) = next(1:points)
  end subroutine turn
end module rope

program pulse
  use rope
  implicit none
  integer :: rank, ranks, step, ierror, requests(4)
  real(8) :: own, total
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call make_part(rank, ranks)
  do step = 1, steps
    call begin_exchange(rank, ranks, requests)
    call advance(2, points - 1)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    call advance(1, 1)
    call advance(points, points)
    call turn()
  end do
  own = sum(height(1:points)**2)
  call MPI_Reduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(f0.6)', total
  call MPI_Finalize(ierror)
end program pulse
