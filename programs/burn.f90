! Fortran's kinds of procedures: of a module, contained in another, recursive, the main program itself.
! burn [SECONDS]
module clocks
  use iso_c_binding, only: c_int, c_long, c_double
  implicit none
  private
  public :: thread_cpu, wall

  type, bind(c) :: timespec
    integer(c_long) :: seconds, nanoseconds
  end type timespec

  interface
    integer(c_int) function clock_gettime(clock, time) bind(c)
      import :: c_int, timespec
      integer(c_int), value :: clock
      type(timespec), intent(out) :: time
    end function clock_gettime
  end interface

contains

  real(c_double) function clock_now(clock)
    integer(c_int), intent(in) :: clock
    type(timespec) :: time
    integer(c_int) :: status
    status = clock_gettime(clock, time)
    clock_now = real(time%seconds, c_double) + 1e-9_c_double * real(time%nanoseconds, c_double)
  end function clock_now

  real(c_double) function thread_cpu()
    thread_cpu = clock_now(3_c_int)
  end function thread_cpu

  real(c_double) function wall()
    wall = clock_now(1_c_int)
  end function wall

end module clocks

module heat
  use iso_c_binding, only: c_int64_t
  implicit none
  ! About 20 microseconds.
  integer(c_int64_t), parameter :: unit_steps = 13000_c_int64_t

contains

  ! Three shifts and three exclusive ors a step: no overflow, which Fortran leaves undefined.
  subroutine module_procedure(x, steps)
    integer(c_int64_t), intent(inout) :: x
    integer(c_int64_t), intent(in) :: steps
    integer(c_int64_t) :: i
    do i = 1, steps
      x = ieor(x, ishft(x, 13))
      x = ieor(x, ishft(x, -7))
      x = ieor(x, ishft(x, 17))
    end do
  end subroutine module_procedure

  recursive subroutine recursive_procedure(x, steps, depth)
    integer(c_int64_t), intent(inout) :: x
    integer(c_int64_t), intent(in) :: steps
    integer, intent(in) :: depth
    integer(c_int64_t) :: i
    do i = 1, steps / 20
      x = ieor(x, ishft(x, 13))
      x = ieor(x, ishft(x, -7))
      x = ieor(x, ishft(x, 17))
    end do
    if (depth > 1) call recursive_procedure(x, steps, depth - 1)
    x = ieor(x, 1_c_int64_t)
  end subroutine recursive_procedure

end module heat

program burn
  use iso_c_binding, only: c_int64_t, c_double
  use clocks
  use heat
  implicit none
  integer(c_int64_t) :: x, state
  real(c_double) :: seconds, began, now, after, ending, of_module, of_contained, of_recursive
  character(len=32) :: argument

  began = wall()
  seconds = 1
  if (command_argument_count() >= 1) then
    call get_command_argument(1, argument)
    read (argument, *) seconds
  end if
  x = 88172645463325252_c_int64_t
  state = 1234567890123_c_int64_t
  of_module = 0
  of_contained = 0
  of_recursive = 0
  now = thread_cpu()
  ending = now + seconds
  do while (now < ending)
    call module_procedure(x, uneven(20 * unit_steps))
    after = thread_cpu()
    of_module = of_module + (after - now)
    now = after
    call contained_procedure(uneven(10 * unit_steps))
    after = thread_cpu()
    of_contained = of_contained + (after - now)
    now = after
    call recursive_procedure(x, uneven(20 * unit_steps), 20)
    after = thread_cpu()
    of_recursive = of_recursive + (after - now)
    now = after
  end do
  if (x == 0) print '(a)', 'never'
  print '(a,f12.6,a,f12.6,a,f12.6,a,f12.6,a,f12.6,a)', &
    '{"program":"burn","functions":{"module_procedure":', of_module, ',"contained_procedure":', &
    of_contained, ',"recursive_procedure":', of_recursive, &
    '},"cpu_s":', thread_cpu(), ',"wall_s":', wall() - began, '}'

contains

  ! Works on a variable of the main program.
  subroutine contained_procedure(steps)
    integer(c_int64_t), intent(in) :: steps
    integer(c_int64_t) :: i
    do i = 1, steps
      x = ieor(x, ishft(x, 13))
      x = ieor(x, ishft(x, -7))
      x = ieor(x, ishft(x, 17))
    end do
  end subroutine contained_procedure

  ! Between half and one and a half times the mean, so that no sampler falls in step with the program.
  integer(c_int64_t) function uneven(mean)
    integer(c_int64_t), intent(in) :: mean
    state = ieor(state, ishft(state, 13))
    state = ieor(state, ishft(state, -7))
    state = ieor(state, ishft(state, 17))
    uneven = mean / 2 + modulo(state, mean)
  end function uneven

end program burn
