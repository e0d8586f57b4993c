(* Ballots are checked and counted by threads, a share for each; the counts are added up at the end. *)

let parties = 12

let check ballot =
  let sum = ref ballot in
  for round = 1 to 150 do
    sum := ((!sum * 31) + round) mod 1_000_003
  done;
  !sum

let count_share counts first last =
  for ballot = first to last - 1 do
    let party = check ballot mod parties in
    counts.(party) <- counts.(party) + 1
  done

let count_all threads total =
  let counts = Array.init threads (fun _ -> Array.make parties 0) in
  let start number =
    let first = total * number / threads and last = total * (number + 1) / threads in
    Thread.create (fun () -> count_share counts.(number) first last) () (* FAULT: one thread runs at a time *)
  in
  List.iter Thread.join (List.init threads start);
  Array.init parties (fun party -> Array.fold_left (fun sum part -> sum + part.(party)) 0 counts)

let () =
  let threads = int_of_string Sys.argv.(1) and total = int_of_string Sys.argv.(2) in
  Array.iteri (fun party count -> Printf.printf "%d: %d\n" party count) (count_all threads total)
