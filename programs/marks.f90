! Marks its intervals, and says how long they took by its own clock.
! marks-fortran SECONDS
program marks
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use, intrinsic :: iso_c_binding, only: c_int
    use proust
    implicit none

    interface
        integer(c_int) function usleep(microseconds) bind(c, name='usleep')
            import :: c_int
            integer(c_int), value :: microseconds
        end function
    end interface

    real(real64) :: seconds, begin, steps, all, waited, paused, reported(3)
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
    all = now() - all
    begin = now()
    n = usleep(int(2e5 * seconds, c_int))
    waited = now() - begin
    begin = now()
    call proust_pause()
    call work(seconds / 10)
    call proust_resume()
    paused = now() - begin
    reported = [proust_elapsed('wait'), proust_elapsed('paused  '), proust_elapsed('no such account')]
    write (*, '(5(a, f16.9), a)', advance='no') '{"elapsed":{"wait":{"own_s":', waited, &
        ',"elapsed_s":', reported(1), '},"paused":{"own_s":', paused, ',"elapsed_s":', reported(2), &
        '},"none":{"own_s":-1,"elapsed_s":', reported(3), '}},'
    print '(a, f16.9, a, f16.9, a)', '"intervals":{"all":{"executions":1,"time_s":', all, &
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
