// The nearest of the gazetteer's places to points on land, by nanoflann over geocentric coordinates: what a tree alone can
// do. Prints points a second of processor time, at random and sorted.
//
//   nearest FILE POINTS        FILE is data/places.gazetteer, whose bytes GazetteerFile.swift describes
#include <nanoflann.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

struct Point { double x, y, z; };

struct Places {
    std::vector<Point> points;
    size_t kdtree_get_point_count() const { return points.size(); }
    double kdtree_get_pt(size_t i, size_t axis) const {
        return axis == 0 ? points[i].x : axis == 1 ? points[i].y : points[i].z;
    }
    template <class Box> bool kdtree_get_bbox(Box&) const { return false; }
};

static double seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static int meters(const unsigned char* at) {
    return int(uint32_t(at[0]) << 8 | uint32_t(at[1]) << 16 | uint32_t(at[2]) << 24) >> 8;
}

int main(int, char** arguments) {
    std::ifstream file(arguments[1], std::ios::binary);
    std::vector<unsigned char> bytes((std::istreambuf_iterator<char>(file)), {});
    uint32_t nodes, count;
    std::memcpy(&nodes, &bytes[12], 4);
    std::memcpy(&count, &bytes[24], 4);
    size_t begin = 64 + (size_t(nodes) * 4 + 63) / 64 * 64;
    Places places;
    for (size_t i = 0; i < count; i++) {
        const unsigned char* at = &bytes[begin + 15 * i];
        places.points.push_back({double(meters(at + 2)), double(meters(at + 5)), double(meters(at + 8))});
    }
    using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Places>, Places, 3>;
    Tree tree(3, places, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    tree.buildIndex();

    // Near some place, within a quarter of a degree on the sphere: nearer to land than points anywhere.
    std::mt19937_64 chance(5);
    std::vector<Point> asked;
    for (long i = 0; i < std::atol(arguments[2]); i++) {
        Point near = places.points[chance() % count];
        std::normal_distribution<double> off(0, 25000);
        asked.push_back({near.x + off(chance), near.y + off(chance), near.z + off(chance)});
    }
    double rates[2];
    for (int sorted = 0; sorted < 2; sorted++) {
        if (sorted)
            std::sort(asked.begin(), asked.end(), [](const Point& a, const Point& b) {
                auto cell = [](const Point& p) {
                    return std::make_pair(std::floor(p.z / 50000), std::floor(std::atan2(p.y, p.x) * 100));
                };
                return cell(a) < cell(b);
            });
        double began = seconds();
        size_t sum = 0;
        for (const Point& point : asked) {
            uint32_t index;
            double square;
            tree.knnSearch(&point.x, 1, &index, &square);
            sum += index;
        }
        rates[sorted] = asked.size() / (seconds() - began);
        if (sum == 0) return 1;
    }
    std::printf("{\"nanoflannRandomPerSecond\":%.0f,\"nanoflannSortedPerSecond\":%.0f}\n", rates[0], rates[1]);
}
