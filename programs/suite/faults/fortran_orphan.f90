! Water in a soil: it seeps down in each column, and then pressure is evened out, column by column.
module soil
  implicit none
  integer, parameter :: depth = 80, columns = 1200, hours = 330
  real(8) :: water(depth, columns), pressure(depth, columns)

contains

  pure real(8) function settle(value, rounds)
    real(8), intent(in) :: value
    integer, intent(in) :: rounds
    integer :: round
    settle = value
    do round = 1, rounds
      settle = sqrt(settle * 1.0000001d0 + 0.75d0) + 0.1d0
    end do
  end function settle

  ! Shares its columns out to the team that calls it.
  subroutine seep(hour)
    integer, intent(in) :: hour
    integer :: column, layer
    !$omp do schedule(static)
    do column = 1, columns
      do layer = 1, depth
        water(layer, column) = settle(pressure(layer, column) + mod(layer + hour, 5), 12)
      end do
    end do
    !$omp end do
  end subroutine seep

  ! Shares its columns out as well.
  subroutine even_out()
    integer :: column, layer
    !$omp do schedule(static)
    do column = 1, columns
      do layer = 1, depth
        pressure(layer, column) = settle(water(layer, column), 25)
      end do
    end do
    !$omp end do
  end subroutine even_out

  subroutine live_through(hour)
    integer, intent(in) :: hour
    !$omp parallel
    call seep(hour)
    !$omp end parallel
    call even_out() ! FAULT: called outside the parallel region, so that one thread has all the columns
  end subroutine live_through
end module soil

program rain
  use omp_lib
  use soil
  implicit none
  integer :: hour, column, threads, length, status
  character(16) :: text
  call get_command_argument(1, text, length, status)
  if (status == 0 .and. length > 0) then
    read (text, *) threads
    call omp_set_num_threads(threads)
  end if
  do column = 1, columns
    pressure(:, column) = mod(column * 31, 17)
  end do
  do hour = 1, hours
    call live_through(hour)
  end do
  print '(f0.6)', sum(pressure) / columns
end program rain
