"""Trains models of scikit-learn, whose package brings a runtime of OpenMP along under a name of its own.

Prints what they predict, and how many threads the process has then: the runtime's stay.
"""
import os

import numpy
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import pairwise_distances_argmin_min

numbers = numpy.random.default_rng(7)
points = numbers.random((6000, 12))
values = points[:, 0] * 3 + numpy.sin(9 * points[:, 1]) + points[:, 2] * points[:, 3]

clusters = KMeans(n_clusters=6, n_init=2, max_iter=30, random_state=1).fit(points)
print("clusters", numpy.bincount(clusters.labels_).tolist(), round(float(clusters.inertia_), 6))
trees = HistGradientBoostingRegressor(max_iter=15, random_state=1).fit(points, values)
print("trees", [round(float(value), 9) for value in trees.predict(points[:5])])
nearest, distance = pairwise_distances_argmin_min(points, clusters.cluster_centers_)
print("nearest", numpy.bincount(nearest).tolist(), round(float(distance.sum()), 6))
print("threads", len(os.listdir("/proc/self/task")))
