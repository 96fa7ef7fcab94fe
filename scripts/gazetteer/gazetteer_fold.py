"""How a name becomes the key it is found by; used by scripts/gazetteer/build.

A key has no spaces, marks or diacritics, and most scripts are written in Latin letters, roughly as GeoNames does it:
"St. Gallen" and "Sankt-Gallen" are `stgallen`, "Москва" is `moskva`. Chinese characters, and scripts that few names
are written in, stay as they are. What a single character becomes is a table (`TABLE`), which names.gazetteer holds, so
that the service folds a question by the very table its keys were made with; how words are joined is the few lines of
`words` and `key`, told again in Sources/Gazetteer/NameFold.swift.
"""

import unicodedata


def pairs(text):
    out = {}
    for item in text.split():
        letters, latin = item.split("=") if "=" in item else (item[0], item[1:])
        for letter in letters:
            out[letter] = latin
    return out


LATIN = pairs("ßss æae œoe øo đd ðd þth łl ıi əe ɛe ɔo ŋn ħh ŧt ɓb ɗd ɖd ƙk ƴy ɣg ʃsh ʒzh ĸk ŉn ſs ĳij ŀl ǿo ǽae")
CYRILLIC = pairs(
    "аa бb вv гg дd еe ёe жzh зz иi йy кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъ ыy ь эe юyu яya "
    "іi їyi єye ґg јj љlj њnj ћc ђdj џdz ѓg ѕdz ќk ўu әa ғg қq ңn өo ұu үu һh ҳh ҷj ӣi ӯu ѣe ѳf ѵi ӑa ӗe ҫs ӳu ӧo ӹy "
    "ӱu ӓa ҡq ҙdh ҥng ҕgh ӡdz ҟk ҽch ҭt ҧp ӏ ѐe ѝi ӝzh ӟz ӥi ӵch")
GREEK = pairs("αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo")
ARABIC = pairs(
    "اa أa إa آa ٱa بb تt ثth جj حh خkh دd ذdh رr زz سs شsh صs ضd طt ظz ع غgh فf قq كk کk لl مm نn هh وw يy یy ىy ةt ء "
    "ئy ؤw پp چch ژzh گg ٹt ڈd ڑr ںn ھh ہh ۀh ەh ےy ۓy ۋw ۆw ۇw ۈw ېy ڭng ټt ډd ړr ښsh ڼn ګg ځz څts ږzh ۍy ێy ڵl ڕr "
    "ـ= ۃt ڤv ڨg")
HEBREW = pairs("א= בb גg דd הh וw זz חh טt יy כk ךk לl מm םm נn ןn סs ע= פp ףp צz ץz קq רr שs תt ׳= ״=")
ARMENIAN = pairs(
    "աa բb գg դd եe զz էe ըe թt ժzh իi լl խkh ծts կk հh ձdz ղgh ճch մm յy նn շsh ոo չch պp ջj ռr սs վv տt րr ցts ւw փp "
    "քk օo ֆf ևev")
GEORGIAN = pairs(
    "აa ბb გg დd ეe ვv ზz თt იi კk ლl მm ნn ოo პp ჟzh რr სs ტt უu ფp ქk ღgh ყq შsh ჩch ცts ძdz წts ჭch ხkh ჯj ჰh")
# By offset in the block: the nine blocks from Devanagari to Malayalam are laid out alike.
INDIC = {
    0x05: "a", 0x06: "a", 0x07: "i", 0x08: "i", 0x09: "u", 0x0A: "u", 0x0B: "r", 0x0E: "e", 0x0F: "e", 0x10: "ai",
    0x11: "o", 0x12: "o", 0x13: "o", 0x14: "au", 0x15: "k", 0x16: "kh", 0x17: "g", 0x18: "gh", 0x19: "n", 0x1A: "c",
    0x1B: "ch", 0x1C: "j", 0x1D: "jh", 0x1E: "n", 0x1F: "t", 0x20: "th", 0x21: "d", 0x22: "dh", 0x23: "n", 0x24: "t",
    0x25: "th", 0x26: "d", 0x27: "dh", 0x28: "n", 0x29: "n", 0x2A: "p", 0x2B: "ph", 0x2C: "b", 0x2D: "bh", 0x2E: "m",
    0x2F: "y", 0x30: "r", 0x31: "r", 0x32: "l", 0x33: "l", 0x34: "l", 0x35: "v", 0x36: "s", 0x37: "s", 0x38: "s",
    0x39: "h", 0x3E: "a", 0x3F: "i", 0x40: "i", 0x41: "u", 0x42: "u", 0x43: "r", 0x46: "e", 0x47: "e", 0x48: "ai",
    0x4A: "o", 0x4B: "o", 0x4C: "au", 0x02: "n", 0x01: "n", 0x5F: "y",
}
# What those blocks have of their own: of Bengali, Gurmukhi and Malayalam.
INDIC_BESIDE = pairs("ৰr ৱv ৎt ੰn ൺn ൻn ർr ൽl ൾl ൿk")
SINHALA = pairs(
    "අa ආa ඇae ඈae ඉi ඊi උu ඌu ඍr එe ඒe ඓai ඔo ඕo ඖau කk ඛkh ගg ඝgh ඞn ඟng චc ඡch ජj ඣjh ඤn ඥn ටt ඨth ඩd ඪdh ණn ඬnd තt ථth "
    "දd ධdh නn ඳnd පp ඵph බb භbh මm ඹmb යy රr ලl වv ශs ෂs සs හh ළl ෆf ාa ැae ෑae ිi ීi ුu ූu ෘr ෙe ේe ෛai ොo ෝo ෞau ංn")
KANA = (
    "a a i i u u e e o o ka ga ki gi ku gu ke ge ko go sa za shi ji su zu se ze so zo ta da chi ji _ tsu zu te de to do "
    "na ni nu ne no ha ba pa hi bi pi fu bu pu he be pe ho bo po ma mi mu me mo ya ya yu yu yo yo ra ri ru re ro wa wa i "
    "e o n vu ka ke").split()
INITIAL = "g kk n d tt r m b pp s ss _ j jj ch k t p h".split()
VOWEL = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split()
FINAL = "_ k k k n n n t l k m l l l p l m p p t t ng t t k t p h".split()


def explicit():
    table = {}
    for script in (LATIN, CYRILLIC, GREEK, ARABIC, HEBREW, ARMENIAN, GEORGIAN):
        table |= script
    for block in range(0x0900, 0x0D80, 0x80):
        table |= {chr(block + offset): latin for offset, latin in INDIC.items()}
    table |= INDIC_BESIDE | SINHALA
    for base in (0x3041, 0x30A1):
        table |= {chr(base + offset): latin.strip("_") for offset, latin in enumerate(KANA)}
    table["ー"] = ""
    for base, part in ((0x1100, INITIAL), (0x1161, VOWEL), (0x11A7, FINAL)):
        table |= {chr(base + offset): latin.strip("_") for offset, latin in enumerate(part)}
    return table


# Marks that stand within a word and say nothing; other marks part words.
SILENT = "'’‘ʼʻ`´ʹʺʾʿ·ʽˈ′"


def made():
    """What each character becomes that does not stay: letters and digits in small Latin, nothing, or a space."""
    known = explicit()
    table = {}

    def folded(character):
        if character in known:
            return known[character]
        lower = character.lower()
        if lower != character:
            return "".join(map(folded, lower))
        parts = unicodedata.normalize("NFKD", character)
        if parts != character:
            return "".join(map(folded, parts))
        category = unicodedata.category(character)
        if character in SILENT or category in ("Mn", "Me", "Cf", "Lm"):
            return ""
        return character if category[0] in "LN" or category == "Mc" else " "

    for code in range(1, 0x10000):
        # Surrogates are no characters; syllables of Hangul are taken apart by arithmetic.
        if 0xD800 <= code < 0xE000 or 0xAC00 <= code < 0xD7A4:
            continue
        character = chr(code)
        latin = folded(character)
        # A character of a script that stays, in another form, stays too.
        if latin != character and latin.isascii():
            table[code] = latin
    return table


TABLE = made()

# Words that are written in several ways.
SAME_WORDS = {
    "saint": "st", "sankt": "st", "sint": "st", "sainte": "ste", "mount": "mt", "fort": "ft", "sta": "santa",
    "sto": "santo",
}


def words(text):
    """The words of a name, folded."""
    out = []
    for character in text:
        code = ord(character)
        if 0xAC00 <= code < 0xD7A4:
            syllable = code - 0xAC00
            out += [TABLE[0x1100 + syllable // 588], TABLE[0x1161 + syllable // 28 % 21], TABLE[0x11A7 + syllable % 28]]
        else:
            out.append(TABLE.get(code, character))
    return [SAME_WORDS.get(word, word) for word in "".join(out).split(" ") if word]


def key(text):
    """The key a name is found by; empty if it has no letter or digit."""
    return "".join(words(text))
