#lang racket/base
;; Places of Racket, which share no memory, have even shares of equal jobs and send a number each at the end.
(require racket/place)
(provide main)

(define (step job)
  (let loop ((i 0) (sum job))
    (if (= i 2000000) sum (loop (+ i 1) (modulo (+ (* sum 31) i job) 1000003)))))

(define (start)
  (place channel
    (define share (place-channel-get channel))
    (place-channel-put
     channel
     (for/sum ((job (in-range (car share) (cadr share) (caddr share)))) (step job)))))

(define (main places jobs)
  (define team (for/list ((number places)) (start)))
  (for ((each team) (number places)) (place-channel-put each (list number jobs places)))
  (displayln (for/sum ((each team)) (place-channel-get each))))

(module+ main
  (define words (current-command-line-arguments))
  (main (string->number (vector-ref words 0)) (string->number (vector-ref words 1))))
