"""The page's modules without a view: a script runs in one page that the tests share."""
from browser import DESK, Visit


def in_modules(world, script, argument=None):
    """What a script returns that has the modules as `ledger`, `words`, `clock`, `basemap` and `map`, and its argument."""
    if not hasattr(world, "bench"):
        context = world.browser.new_context(**DESK, locale="en-GB", timezone_id="Europe/Vienna")
        context.add_cookies([world.session("walker")])
        world.bench = Visit(context, world).open("places").page
    # The same modules as those of the page: their addresses have the hash of the set.
    return world.bench.evaluate(f"""async argument => {{
        const base = document.querySelector('script[type=module]').src.replace(/[^/]*$/, '');
        const [ledger, words, clock, basemap, map] = await Promise.all(['ledger', 'ledger-words', 'time', 'basemap', 'map'].map(name => import(`${{base}}${{name}}.js`)));
        {script}
    }}""", argument)
