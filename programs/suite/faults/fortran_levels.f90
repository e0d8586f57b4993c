! The grey levels of pictures are counted, to choose a threshold between their dark and bright parts.
module levels
  use omp_lib
  implicit none
  integer, parameter :: side = 1024, most = 255, pictures = 60

contains

  subroutine make_picture(picture)
    integer, intent(out) :: picture(side, side)
    integer :: row, column, chance
    chance = 12345
    do column = 1, side
      do row = 1, side
        chance = iand(chance * 1103515 + 12345, 8388607)
        picture(row, column) = mod(chance / 8, 4)
        if (mod(chance, 8) == 0) picture(row, column) = mod(chance / 64, most + 1)
      end do
    end do
  end subroutine make_picture

  subroutine count_levels(picture, counts, threads)
    integer, intent(in) :: picture(side, side), threads
    integer, intent(inout) :: counts(0:most)
    integer :: row, column, level
    !$omp parallel do num_threads(threads) private(row, level)
    do column = 2, side - 1
      do row = 2, side - 1
        level = (picture(row - 1, column) + 2 * picture(row, column) + picture(row + 1, column)) / 4
        !$omp atomic
        counts(level) = counts(level) + 1 ! FAULT: all threads add to the few counters of the dark levels
      end do
    end do
  end subroutine count_levels

  integer function threshold(counts)
    integer, intent(in) :: counts(0:most)
    real(8) :: below, above, lower, upper, between, largest
    integer :: level, l
    threshold = 0
    largest = -1
    do level = 0, most - 1
      below = sum(dble(counts(:level)))
      above = sum(dble(counts)) - below
      if (below <= 0 .or. above <= 0) cycle
      lower = sum([(dble(counts(l)) * l, l = 0, level)]) / below
      upper = sum([(dble(counts(l)) * l, l = level + 1, most)]) / above
      between = below * above * (lower - upper)**2
      if (between > largest) then
        largest = between
        threshold = level
      end if
    end do
  end function threshold
end module levels

program grey
  use levels
  implicit none
  integer, allocatable :: picture(:, :)
  integer :: counts(0:most) = 0, threads, number, total = 0
  character(len=16) :: word
  threads = omp_get_num_procs()
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) threads
  end if
  allocate (picture(side, side))
  call make_picture(picture)
  do number = 1, pictures
    call count_levels(picture, counts, threads)
    total = total + threshold(counts)
  end do
  print '(i0)', total
end program grey
