\\ Threads of PARI factorise numbers that lie beside each other, a block of them for each job.
default(parisizemax, "64M");
factors(k) = sum(i = 1, 15, #factor(10^27 + 15 * k + i)[, 1]);
export(factors);
print(vecsum(parapply(factors, [1 .. 256])));
quit
