"""The numbers of a finished run: docs/model/results.md."""

from collections import Counter
from math import sqrt


def bin_of(latency):
    """First picosecond of its bin, and width."""
    if latency < 256:
        return latency, 1
    o = latency.bit_length() - 8
    return latency >> o << o, 1 << o


def ns(picoseconds):
    return '%d.%03d' % divmod(picoseconds, 1000)


class Results:
    def __init__(self):
        self.latencies = []
        self.translations = []
        self.delivered = 0
        self.l1_hits = self.l1_joined = self.walks = self.ahead = 0
        self.time = 0

    def stored(self, latency, size):
        self.latencies.append(latency)
        self.delivered += size

    def finish(self, pod, begin):
        self.time = max(max(gpu.executor.last_end, gpu.last_landing) for gpu in pod.gpus) - begin
        self.size = pod.plan.size
        self.bus = self.size * 10**6 * (pod.plan.gpus - 1) // pod.plan.gpus
        if pod.plan.collective == 'allreduce':
            self.bus *= 2

    def histogram(self):
        return Counter(bin_of(latency) for latency in self.latencies)

    def _percentile(self, per_mille):
        reached = 0
        for (first, width), count in sorted(self.histogram().items()):
            reached += count
            if reached * 1000 >= len(self.latencies) * per_mille:
                return min(first + width - 1, max(self.latencies))
        return 0

    def _shape(self):
        """Standard deviation and skewness."""
        bins = [((2 * first + width - 1) / 2, count) for (first, width), count in self.histogram().items()]
        w = float(len(self.latencies))
        if len(bins) < 2:
            return 0.0, 0.0
        mean = sum(x * n for x, n in bins) / w
        sd = sqrt(sum(n * (x - mean) ** 2 for x, n in bins) * w / (w * w - sum(n * n for _, n in bins)))
        skew = sum(n * ((x - mean) / sd) ** 3 for x, n in bins) / w if w >= 3 else 0.0
        return sd, skew

    def summary(self):
        """Columns of summary.csv as they stand there; standard deviation and skewness as numbers."""
        def mean(values):
            return (sum(values) + len(values) // 2) // len(values) if values else 0

        sd, skew = self._shape()
        return {
            'time_ns': ns(self.time),
            'algbw_GBps': ns(self.size * 10**6 // self.time if self.time else 0),
            'busbw_GBps': ns(self.bus // self.time if self.time else 0),
            'stores': str(len(self.latencies)),
            'bytes_delivered': str(self.delivered),
            'store_mean_ns': ns(mean(self.latencies)),
            'store_p50_ns': ns(self._percentile(500)),
            'store_p99_ns': ns(self._percentile(990)),
            'store_max_ns': ns(max(self.latencies, default=0)),
            'store_sd_ns': sd / 1000,
            'store_skew': skew,
            'translated': str(len(self.translations)),
            'translation_l1_hits': str(self.l1_hits),
            'translation_l1_mshr_hits': str(self.l1_joined),
            'translation_walks': str(self.walks),
            'translation_ahead': str(self.ahead),
            'translation_mean_ns': ns(mean(self.translations)),
            'translation_max_ns': ns(max(self.translations, default=0)),
        }
