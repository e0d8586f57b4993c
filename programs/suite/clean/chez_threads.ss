;; Threads of Chez Scheme take blocks of numbers from a counter and count steps of Collatz for each.
(define threads (string->number (cadr (command-line))))
(define blocks (string->number (caddr (command-line))))
(define size 1000)
(define lock (make-mutex))
(define ended (make-condition))
(define next 0)
(define running threads)
(define total 0)

(define (steps-of number)
  (let loop ((value number) (steps 0))
    (if (fx= value 1)
        steps
        (loop (if (fxeven? value) (fxquotient value 2) (fx+ (fx* 3 value) 1)) (fx+ steps 1)))))

(define (take)
  (with-mutex lock
    (let ((block next))
      (set! next (+ next 1))
      (and (< block blocks) block))))

(define (count-block block)
  (let loop ((number (+ 1 (* block size))) (sum 0))
    (if (> number (* (+ block 1) size)) sum (loop (+ number 1) (+ sum (steps-of number))))))

(define (work)
  (let loop ((sum 0))
    (let ((block (take)))
      (if block
          (loop (+ sum (count-block block)))
          (with-mutex lock
            (set! total (+ total sum))
            (set! running (- running 1))
            (condition-signal ended))))))

(do ((i 0 (+ i 1))) ((= i threads)) (fork-thread work))
(with-mutex lock
  (let loop () (when (> running 0) (condition-wait ended lock) (loop))))
(display total)
(newline)
