// Stay points as Li et al. 2008 (DOI 10.1145/1463434.1463477) find them, in a loop: within 200 m of an anchor for ten
// minutes. The track is that of VisitBench.swift. Prints {"fixesPerSecond":…,"visits":…}.
//
//   stay_points FIXES INTERVAL-SECONDS
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct fix { int64_t time; double latitude, longitude; };

static double noise(int64_t number, uint64_t salt)
{
	uint64_t z = (uint64_t)number * 0x9E3779B97F4A7C15u ^ salt * 0xD1B54A32D192ED03u;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double share(double hour, double from) { return fmin(1, fmax(0, (hour - from) * 2)); }

static double haversine(const struct fix *a, const struct fix *b)
{
	const double degree = 3.14159265358979323846 / 180;
	double x = sin((b->latitude - a->latitude) * degree / 2), y = sin((b->longitude - a->longitude) * degree / 2);
	return 2 * 6371008.8 * asin(sqrt(x * x + cos(a->latitude * degree) * cos(b->latitude * degree) * y * y));
}

int main(int argc, char **argv)
{
	if (argc != 3) return 2;
	int64_t count = atoll(argv[1]), interval = atoll(argv[2]);
	struct fix *fixes = count > 0 ? malloc((size_t)count * sizeof *fixes) : NULL;
	if (!fixes) return 3;
	for (int64_t i = 0; i < count; i++) {
		double hour = (double)(i * interval % 86400) / 3600, way = share(hour, 7.5) - share(hour, 17);
		double scatter = way > 0 && way < 1 ? 8 : 25;
		double east = way * 10000 + (noise(i, 1) - 0.5) * scatter, north = (noise(i, 2) - 0.5) * scatter;
		fixes[i] = (struct fix){i * interval, 52 + north / 111267, 13 + east / 68678};
	}
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	int64_t visits = 0;
	double sum = 0;
	for (int64_t i = 0, j; i < count; ) {
		double latitude = 0, longitude = 0;
		for (j = i + 1; j < count && haversine(&fixes[i], &fixes[j]) <= 200; j++) {
			latitude += fixes[j].latitude;
			longitude += fixes[j].longitude;
		}
		if (fixes[j - 1].time - fixes[i].time >= 600) {
			visits++;
			sum += (latitude + longitude) / (double)(j - i);
			i = j;
		} else {
			i++;
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	printf("{\"fixesPerSecond\":%.0f,\"visits\":%lld,\"sum\":%.3f}\n", (double)count / seconds, (long long)visits, sum);
	free(fixes);
	return 0;
}
