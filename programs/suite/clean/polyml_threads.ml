(* Threads of Poly/ML take equal jobs from a counter. *)
val [threads, jobs] = List.mapPartial Int.fromString (CommandLine.arguments ())
val lock = Thread.Mutex.mutex ()
val ended = Thread.ConditionVar.conditionVar ()
val next = ref 0 and running = ref threads and total = ref 0

fun locked action =
  let
    val () = Thread.Mutex.lock lock
    val result = action ()
  in
    Thread.Mutex.unlock lock;
    result
  end

fun step job =
  let
    fun loop (0, sum) = sum
      | loop (left, sum) = loop (left - 1, (sum * 31 + left + job) mod 1000003)
  in
    loop (2400000, job)
  end

fun take () = locked (fn () => !next before next := !next + 1)

fun work sum =
  let val job = take () in
    if job < jobs then work (sum + step job)
    else locked (fn () =>
      (total := !total + sum; running := !running - 1; Thread.ConditionVar.signal ended))
  end

val () = List.app (fn _ => ignore (Thread.Thread.fork (fn () => work 0, [])))
  (List.tabulate (threads, fn number => number))
val () = Thread.Mutex.lock lock
val () = while !running > 0 do Thread.ConditionVar.wait (ended, lock)
val () = print (Int.toString (!total) ^ "\n")
val () = OS.Process.terminate OS.Process.success
