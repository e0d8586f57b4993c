! Marks its intervals, and says how long they took by its own clock.
! marks-fortran SECONDS
program marks
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use proust
    implicit none
    real(real64) :: seconds, begin, steps, all
    integer :: n
    character(len=32) :: argument

    seconds = 1
    if (command_argument_count() > 0) then
        call get_command_argument(1, argument)
        read (argument, *) seconds
    end if
    steps = 0
    all = now()
    call proust_begin('all')
    do n = 1, 4
        begin = now()
        call step(n)
        steps = steps + now() - begin
    end do
    call proust_begin_parallel('long number', 2_int64**40)
    call proust_end('long number', 2_int64**40)
    call proust_end('all')
    print '(a, f16.9, a, f16.9, a)', '{"intervals":{"all":{"executions":1,"time_s":', now() - all, &
        '},"step":{"executions":4,"time_s":', steps, '}}}'

contains

    subroutine step(number)
        integer, intent(in) :: number
        call proust_begin('step  ', mod(number, 2))
        call work(seconds / 4)
        call proust_end('step', mod(number, 2))
    end subroutine

    subroutine work(for_s)
        real(real64), intent(in) :: for_s
        real(real64) :: end, x
        integer :: i
        end = now() + for_s
        x = 1
        do while (now() < end)
            do i = 1, 20000
                x = x * 1.0000001_real64 + 1e-9_real64
            end do
        end do
        if (x < 0) print *, x
    end subroutine

    real(real64) function now()
        integer(int64) :: count, rate
        call system_clock(count, rate)
        now = real(count, real64) / real(rate, real64)
    end function

end program
