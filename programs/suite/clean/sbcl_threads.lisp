;; Threads take blocks of numbers from a counter and search them for those with long ways to one.
(defun steps-of (number)
  (declare (type (unsigned-byte 62) number) (optimize speed))
  (loop with steps of-type fixnum = 0
        until (= number 1)
        do (setf number (if (evenp number) (ash number -1) (ldb (byte 62 0) (+ (* 3 number) 1))))
           (incf steps)
        finally (return steps)))

(defun longest-of (block)
  (loop for number from (+ (* block 2000) 1) to (* (+ block 1) 2000)
        maximize (steps-of number)))

(let* ((words (rest sb-ext:*posix-argv*))
       (threads (parse-integer (first words)))
       (blocks (parse-integer (second words)))
       (counter (list -1))
       (team (loop repeat threads
                   collect (sb-thread:make-thread
                            (lambda ()
                              (loop for block = (1+ (sb-ext:atomic-incf (car counter)))
                                    while (< block blocks)
                                    maximize (longest-of block)))))))
  (format t "~d~%" (reduce #'max (mapcar #'sb-thread:join-thread team))))
