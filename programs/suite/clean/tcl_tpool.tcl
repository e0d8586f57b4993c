# Jobs of some ten milliseconds are done by the threads of a pool, each with an interpreter of its own.
package require Thread

lassign $argv threads jobs
set pool [tpool::create -minworkers $threads -maxworkers $threads -initcmd {
    proc simulate {job} {
        set value $job
        for {set step 0} {$step < 330000} {incr step} {
            set value [expr {($value * 31 + $step) % 1000003}]
        }
        return $value
    }
}]
for {set job 0} {$job < $jobs} {incr job} {
    lappend posted [tpool::post -nowait $pool "simulate $job"]
}
set sum 0
foreach job $posted {
    while {$job ni [tpool::wait $pool $job]} {}
    incr sum [tpool::get $pool $job]
}
puts $sum
tpool::release $pool
