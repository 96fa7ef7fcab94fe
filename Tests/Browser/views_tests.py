"""Every view in every form: axe, one heading, no sideways scrolling, nothing that leaves the origin, nothing on the console."""
from browser import FORMS, VIEWS, expect


def each_view(world, check, views=VIEWS, **options):
    """Opens the views with one page a person, as somebody does who reads on, and judges them all before it fails."""
    wrong = []
    for who in dict.fromkeys(who for who, _ in views):
        with world.visit(who, **options) as visit:
            for index, view in enumerate(view for other, view in views if other == who):
                if index == 0:
                    visit.open(view)
                else:
                    visit.follow(view)
                wrong += [f"{view}: {sentence}" for sentence in [*check(visit, view), *visit.noises()]]
    expect(not wrong, "\n    ".join(["", *wrong]))


def complete(visit, view):
    yield from visit.world.violations(visit.page)
    if visit.page.locator("h1").count() != 1:
        yield f"has {visit.page.locator('h1').count()} headings of the first rank"
    if visit.sideways() > 0:
        yield f"scrolls sideways by {visit.sideways()} px"


def test_axe_finds_nothing_on_a_desk(world):
    each_view(world, complete, **FORMS["desk"])


def test_axe_finds_nothing_in_the_dark(world):
    each_view(world, complete, **FORMS["dark"])


def states(visit, view):
    """In forced colors backgrounds are gone: a state needs a border or a word. And twice the size must fit."""
    bare = visit.page.evaluate("""() => [...document.querySelectorAll('.pill, .card, .note')]
        .filter(one => one.offsetParent && (getComputedStyle(one).borderTopStyle === 'none' || !one.innerText.trim()))
        .map(one => one.outerHTML.slice(0, 120))""")
    if bare:
        yield f"states without a border or a word: {bare}"
    if visit.sideways() > 0:
        yield f"scrolls sideways by {visit.sideways()} px"


def test_forced_colors_and_twice_the_size_keep_every_state(world):
    # A zoom of 200 % halves the pixels of the page.
    each_view(world, states, forced_colors="active", viewport={"width": 640, "height": 400}, device_scale_factor=2)


def targets(visit, view):
    """WCAG 2.5.8: at least 24 px; ours on a phone: 44 px for buttons and fields."""
    small = visit.page.evaluate("""() => [...document.querySelectorAll('button, input, select, summary, .button')]
        .filter(one => one.offsetParent && !one.closest('.leaflet-container, .hidden, .unseen'))
        .map(one => { const box = (one.closest('label.check') ?? one).getBoundingClientRect(); return [one, box]; })
        .filter(([one, box]) => box.height < (one.matches('button:not(.quiet), select, .button') ? 44 : 24) || box.width < 24)
        .map(([one, box]) => `${one.outerHTML.slice(0, 90)} ${box.width}×${box.height}`)""")
    if small:
        yield f"small targets: {small}"


def on_a_phone(visit, view):
    yield from complete(visit, view)
    yield from targets(visit, view)


def test_axe_finds_nothing_on_a_phone_and_targets_are_large(world):
    each_view(world, on_a_phone, **FORMS["phone"])


def german(visit, view):
    keys = visit.page.evaluate(r"""() => [...new Set(document.body.innerText.match(/\b(parts|audit|requests|sharing|places|year|regions|devices|operate|day|now|welcome)\.[a-zA-Z.]+/g) ?? [])]""")
    if visit.page.evaluate("document.documentElement.lang") != "de":
        yield "is not in German"
    if keys:
        yield f"shows keys instead of words: {keys}"
    if visit.sideways() > 0:
        yield f"scrolls sideways by {visit.sideways()} px"


def test_german_fits_into_320_pixels(world):
    each_view(world, german, locale="de-AT", viewport={"width": 320, "height": 640})
