! Marks for Proust: intervals of a program, by name, and control of the recording.
!
!     use proust
!     call proust_begin('assemble', 3)
!     ...
!     call proust_end('assemble', 3)
!
! In a program that `proust record` runs the marks are recorded; in any other one each costs a test of a
! variable. Compile this file with the program; nothing is linked (with a C library older than 2.34 give
! -ldl). The names and the rules are those of proust.h.
module proust
    use, intrinsic :: iso_c_binding
    implicit none
    private

    public :: proust_begin, proust_begin_parallel, proust_begin_replicated, proust_end, proust_iterations
    public :: proust_pause, proust_resume, proust_sample, proust_name_thread, proust_elapsed

    ! The number of an interval that has none.
    integer(c_int64_t), parameter, public :: proust_no_number = -huge(1_c_int64_t) - 1

    ! A number may be an integer of either kind, or be left out.
    interface proust_begin
        module procedure begin_plain, begin_numbered, begin_long
    end interface
    interface proust_begin_parallel
        module procedure begin_parallel, begin_parallel_numbered, begin_parallel_long
    end interface
    interface proust_end
        module procedure end_plain, end_numbered, end_long
    end interface

    type, bind(c) :: mark
        integer(c_int32_t) :: bytes
        integer(c_int32_t) :: line
        type(c_ptr) :: name
        integer(c_int64_t) :: name_bytes
        type(c_ptr) :: file
        integer(c_int64_t) :: file_bytes
        integer(c_int64_t) :: number
        integer(c_int32_t) :: kind
        integer(c_int32_t) :: degree
    end type

    type, bind(c) :: functions
        integer(c_int32_t) :: bytes
        integer(c_int32_t) :: version
        type(c_funptr) :: begin
        type(c_funptr) :: end
        type(c_funptr) :: iterations
        type(c_funptr) :: pause
        type(c_funptr) :: resume
        type(c_funptr) :: sample
        type(c_funptr) :: name_thread
        type(c_funptr) :: elapsed
    end type

    abstract interface
        subroutine takes_mark(given) bind(c)
            import :: mark
            type(mark), intent(in) :: given
        end subroutine
        subroutine takes_count(count) bind(c)
            import :: c_int64_t
            integer(c_int64_t), value :: count
        end subroutine
        subroutine takes_nothing() bind(c)
        end subroutine
        subroutine takes_text(text, bytes) bind(c)
            import :: c_ptr, c_int64_t
            type(c_ptr), value :: text
            integer(c_int64_t), value :: bytes
        end subroutine
        function takes_account(text, bytes) bind(c)
            import :: c_ptr, c_int64_t, c_double
            type(c_ptr), value :: text
            integer(c_int64_t), value :: bytes
            real(c_double) :: takes_account
        end function
    end interface

    interface
        function dlsym(handle, name) bind(c, name='dlsym')
            import :: c_ptr, c_char
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr) :: dlsym
        end function
    end interface

    integer, parameter :: unknown = 0, absent = 1, present_ = 2
    integer, volatile :: state = unknown
    type(functions), pointer :: found => null()

contains

    ! Whether Proust is there. Its table has a name that nothing else has, and is looked for once.
    logical function is_there()
        if (state == unknown) call look()
        is_there = state == present_
    end function

    subroutine look()
        type(c_ptr) :: address
        address = dlsym(c_null_ptr, 'proust_marks_1' // c_null_char)
        if (c_associated(address)) then
            call c_f_pointer(address, found)
            state = present_
        else
            state = absent
        end if
    end subroutine

    subroutine begin_as(name, number, kind, degree)
        character(len=*), intent(in), target :: name
        integer(c_int64_t), intent(in) :: number
        integer(c_int32_t), intent(in) :: kind, degree
        procedure(takes_mark), pointer :: function
        call c_f_procpointer(found%begin, function)
        call function(mark_of(name, number, kind, degree))
    end subroutine

    subroutine end_as(name, number)
        character(len=*), intent(in), target :: name
        integer(c_int64_t), intent(in) :: number
        procedure(takes_mark), pointer :: function
        call c_f_procpointer(found%end, function)
        call function(mark_of(name, number, 0_c_int32_t, 0_c_int32_t))
    end subroutine

    function mark_of(name, number, kind, degree) result(made)
        character(len=*), intent(in), target :: name
        integer(c_int64_t), intent(in) :: number
        integer(c_int32_t), intent(in) :: kind, degree
        type(mark) :: made
        made = mark(int(c_sizeof(made), c_int32_t), 0_c_int32_t, address_of(name), &
                    len_trim(name, c_int64_t), c_null_ptr, 0_c_int64_t, number, kind, degree)
    end function

    ! Texts are read up to their last character that is no blank.
    function address_of(text) result(address)
        character(len=*), intent(in), target :: text
        type(c_ptr) :: address
        address = c_null_ptr
        if (len(text) > 0) address = c_loc(text(1:1))
    end function

    subroutine begin_plain(name)
        character(len=*), intent(in) :: name
        if (is_there()) call begin_as(name, proust_no_number, 0_c_int32_t, 0_c_int32_t)
    end subroutine

    subroutine begin_numbered(name, number)
        character(len=*), intent(in) :: name
        integer(c_int32_t), intent(in) :: number
        if (is_there()) call begin_as(name, int(number, c_int64_t), 0_c_int32_t, 0_c_int32_t)
    end subroutine

    subroutine begin_long(name, number)
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: number
        if (is_there()) call begin_as(name, number, 0_c_int32_t, 0_c_int32_t)
    end subroutine

    ! Work that is distributed over the processors.
    subroutine begin_parallel(name)
        character(len=*), intent(in) :: name
        if (is_there()) call begin_as(name, proust_no_number, 1_c_int32_t, 0_c_int32_t)
    end subroutine

    subroutine begin_parallel_numbered(name, number)
        character(len=*), intent(in) :: name
        integer(c_int32_t), intent(in) :: number
        if (is_there()) call begin_as(name, int(number, c_int64_t), 1_c_int32_t, 0_c_int32_t)
    end subroutine

    subroutine begin_parallel_long(name, number)
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: number
        if (is_there()) call begin_as(name, number, 1_c_int32_t, 0_c_int32_t)
    end subroutine

    ! Work that `degree` processors each do in full; 0 = all ranks.
    subroutine proust_begin_replicated(name, degree)
        character(len=*), intent(in) :: name
        integer, intent(in) :: degree
        if (is_there()) call begin_as(name, proust_no_number, 2_c_int32_t, int(degree, c_int32_t))
    end subroutine

    subroutine end_plain(name)
        character(len=*), intent(in) :: name
        if (is_there()) call end_as(name, proust_no_number)
    end subroutine

    subroutine end_numbered(name, number)
        character(len=*), intent(in) :: name
        integer(c_int32_t), intent(in) :: number
        if (is_there()) call end_as(name, int(number, c_int64_t))
    end subroutine

    subroutine end_long(name, number)
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: number
        if (is_there()) call end_as(name, number)
    end subroutine

    ! Adds to the iterations of the innermost open interval of the calling thread.
    subroutine proust_iterations(count)
        integer, intent(in) :: count
        procedure(takes_count), pointer :: function
        if (.not. is_there()) return
        call c_f_procpointer(found%iterations, function)
        call function(int(count, c_int64_t))
    end subroutine

    ! Recording stops in this process, until proust_resume.
    subroutine proust_pause()
        procedure(takes_nothing), pointer :: function
        if (.not. is_there()) return
        call c_f_procpointer(found%pause, function)
        call function()
    end subroutine

    subroutine proust_resume()
        procedure(takes_nothing), pointer :: function
        if (.not. is_there()) return
        call c_f_procpointer(found%resume, function)
        call function()
    end subroutine

    ! Samples the process: what it has used and holds.
    subroutine proust_sample(label)
        character(len=*), intent(in), target :: label
        procedure(takes_text), pointer :: function
        if (.not. is_there()) return
        call c_f_procpointer(found%sample, function)
        call function(address_of(label), len_trim(label, c_int64_t))
    end subroutine

    ! Names the calling thread in reports.
    subroutine proust_name_thread(name)
        character(len=*), intent(in), target :: name
        procedure(takes_text), pointer :: function
        if (.not. is_there()) return
        call c_f_procpointer(found%name_thread, function)
        call function(address_of(name), len_trim(name, c_int64_t))
    end subroutine

    ! Seconds of the calling thread on an account so far: wall, cpu, compute (cpu without Proust's own), user,
    ! system, measurement, wait, io, mpi, paused. Less than 0 for accounts that only the analysis knows (lock,
    ! barrier, mpi-partner, serial, idle, fault, oversubscribed, preempted), and where nothing is recorded.
    real(c_double) function proust_elapsed(account)
        character(len=*), intent(in), target :: account
        procedure(takes_account), pointer :: function
        proust_elapsed = -1
        if (.not. is_there()) return
        call c_f_procpointer(found%elapsed, function)
        proust_elapsed = function(address_of(account), len_trim(account, c_int64_t))
    end function

end module
