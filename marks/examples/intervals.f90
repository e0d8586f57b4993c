! The marks in use; it runs the same with Proust and without.
program intervals
    use proust
    implicit none
    integer :: level, n
    real(8) :: total
    total = 0
    call proust_name_thread('example')
    call proust_begin('all')
    do level = 1, 3
        call proust_begin_parallel('sweep', level)
        do n = 1, 2000000
            total = total + sin(real(n, 8))
        end do
        call proust_iterations(2000000)
        call proust_end('sweep', level)
    end do
    call proust_begin_replicated('setup', 4)
    call proust_end('setup')
    call proust_end('all')
    call proust_pause()
    call proust_resume()
    call proust_sample('done')
    print '(f12.6, a, l1)', total, ' recorded: ', proust_elapsed('cpu') >= 0
end program
