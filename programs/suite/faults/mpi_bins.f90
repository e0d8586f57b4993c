! Distances of pairs of atoms are counted by all ranks, and after each step the counts are added up.
! Its fault: each of the thousands of bins is added up by a call of its own instead of all at once.
module distances
  use mpi
  implicit none
  integer, parameter :: atoms = 400, bins = 4000, steps = 500
  real(8) :: place(3, atoms)

contains

  subroutine move(step)
    integer, intent(in) :: step
    integer :: atom
    do atom = 1, atoms
      place(1, atom) = mod(atom * 7919 + step * 13, 1009) / 1009d0
      place(2, atom) = mod(atom * 104729 + step * 29, 2003) / 2003d0
      place(3, atom) = mod(atom * 611953 + step * 31, 4001) / 4001d0
    end do
  end subroutine move

  subroutine count_pairs(counts, rank, ranks)
    integer, intent(out) :: counts(bins)
    integer, intent(in) :: rank, ranks
    integer :: one, other, bin
    real(8) :: apart(3)
    counts = 0
    do one = 1 + rank, atoms, ranks
      do other = 1, atoms
        apart = abs(place(:, one) - place(:, other))
        apart = min(apart, 1 - apart)
        bin = 1 + int(sqrt(sum(apart**2)) * (bins - 1))
        counts(bin) = counts(bin) + 1
      end do
    end do
  end subroutine count_pairs

  subroutine add_up(counts, totals)
    integer, intent(in) :: counts(bins)
    integer(8), intent(inout) :: totals(bins)
    integer :: bin, ierror, sum_of_all
    do bin = 1, bins
      ! FAULT: each bin alone
      call MPI_Allreduce(counts(bin), sum_of_all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
      totals(bin) = totals(bin) + sum_of_all
    end do
  end subroutine add_up
end module distances

program pairs
  use distances
  implicit none
  integer :: rank, ranks, step, ierror, counts(bins)
  integer(8) :: totals(bins)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  totals = 0
  do step = 1, steps
    call move(step)
    call count_pairs(counts, rank, ranks)
    call add_up(counts, totals)
  end do
  if (rank == 0) print '(i0, a, i0)', sum(totals), ' pairs, most in bin ', maxloc(totals)
  call MPI_Finalize(ierror)
end program pairs
