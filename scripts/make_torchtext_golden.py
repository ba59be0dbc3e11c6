"""Write the golden files in tests/golden/data/ with the output of torchtext 0.18.

    python scripts/make_torchtext_golden.py

Runs in an environment with torch 2.3 and torchtext 0.18 (scripts/test_torchtext.sh makes one). The tests
compare linker with the committed files.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import torchtext

torchtext.disable_torchtext_deprecation_warning()

from torchtext.data.utils import get_tokenizer  # noqa: E402
from torchtext.vocab import GloVe, Vectors  # noqa: E402

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "data"
# One line holds one text.
TEXTS = r"""
Hello World
It's "fine", really.
Wait!What?
a;b:c
(one) <br />two
<BR /><br/>three<br /><br />four
<br;/>five<br:/>six<br "/>seven<br.;/>

"
'''""''
RT @BBCNews: BREAKING: Dam bursts, 3 dead http://t.co/aB1cD2e #flood
https://www.example.org/a_(b)?c=d&e=f#g;h
http://t.co/x… via @user_name
pic.twitter.com/0eJtXy www.x.org/~me/
mail: Jane.Doe+news@example.co.uk!
soooo goooood!!!! noooo..... whaaat?!?!?!
Yaaaay :-) :( ;-) :'( <3 </3 :P =D 8-) ^_^ ¯\_(ツ)_/¯
don't can't won't they're I'd rock'n'roll '90s dogs'
don’t “quoted” ‘single’ «guillemets» „low“ ‹x›
U.S. U.K. Ph.D. e.g. i.e. a.m. 10:30p.m.
$1,000,000.50 -3.14 +7 1e-5 50% 3/4 10:30 2014-04-15
#BostonMarathon #ObamaCare2014 #1 #climate_change ##double
@ # @@ #@ _ __ - -- — – ... … ·
AC/DC & R&B vs. AT&T &amp; &lt;tag&gt; &#39;
state-of-the-art co-operate e-mail (re)read [sic] {x}
http://t.co/AbC
3.5 million
...
well-known #tag @user
CAFÉ Café café Ünïcödé ÅNGSTRÖM
İstanbul ISPARTA ı ẞ ß ΟΔΥΣΣΕΎΣ Σ ς ΑΣ.
ŒUVRE Ǆ ǅ Ω K Å ﬁ ﬂ
МОСКВА Київ Ελλάδα Հայաստան საქართველო
你好，世界！「引用」（括号）：；？。
東京でAIを勉強する。カタカナ・ﾊﾝｶｸ
안녕하세요! 한국어?
नमस्ते। हिन्दी, में
สวัสดีครับ ภาษาไทย
مرحبا، كيف؟ الحال؛ ١٢٣
שלום, "עולם" ג'ירפה
👩🏽‍💻 🇺🇸 ❤️ 1️⃣ 😀😀😀 👍🏿!
emoji:😀;(😀)'😀'"😀".😀,😀
𝗯𝗼𝗹𝗱 ｗｉｄｅ ①② ½ x² H₂O ™ ©
``quoted'' ,,low'' --dash-- ~~strike~~
a.b,c!d?e;f:g(h)i'j"k
(((nested))) ((a)(b)) )( ():() ;;;:::
'tis the season; 'twas "the" night: he said 'no'.
"He said: "She said: 'Yes.'""
semi;colon; col:on: :: ;: :;
new\nline \t backslash \' \" \\
100°C 5'11" 6″ 7′ №5 §3 ¶
<a href="http://x.org/">link</a><p>para.</p>
<br /> < br /> <br  /> <br /><BR/>
%20 a%2Cb ?q=1&r=2 =? !important
C++ C# F# .NET node.js v1.2.3 x.y.z
!!!one ???two ,,,three ...four
Straße GROSS große MASSE
MiXeD CaSe WORDS lower UPPER
naïve fiancé Dvořák São Łódź Đà Nẵng
e´ e´́ à ñ n\u0303
#ÉlectionsMunicipales @müller_42 №
RT RT RT "RT" 'RT' (RT) RT: RT; RT, RT. RT! RT?
I ❤ NY... & you? :) Yes/No; maybe'
1. First 2) Second (3) Third 4: Fourth
"," "." "!" ";" ":" "'" "(" ")"
"""
ESCAPED = [
    "   ",
    "tab\tand  two   spaces \r\n new line \v\f end",
    "no-break\u00a0space thin\u2009space ideographic\u3000space",
    "line\u2028separator paragraph\u2029separator next\x85line file\x1cseparator",
    "zero\u200bwidth byte\ufefforder soft\u00adhyphen null\x00byte",
    "e\u0301 n\u0303 A\u030a a\u00b4\u0301 \u0301alone",
    "<br\u00a0/>x<br\n/>y<br />\u00a0z",
]
# Numbers as they come in such files. `twice` is not rounded to float32 at once by torchtext, but to float64 before.
VECTORS = """\
the 0.418 0.24968 -0.41242 0.1217
Obama -0.57719 1.234567 -2.5e-05 7
nyc 3.4028234e+38 1.1754944e-38 -0.0 1e-45
NYC 0.1 0.2 0.3 0.4
café 16777217 33554433 0.333333333333333333 -1.00000011920929
. 1e3 -1E-3 +0.5 .5
<user> 0.000011 123456.789 -99999.99 2
Ünï 1 2 3 4
us 0.5 0.25 0.125 0.0625
the 9 9 9 9
US 0.7 0.6 0.5 0.4
no\u00a0break 1 1 1 1
twice 1.0000000596046447754 1 1 1
last -0.12345678 0.98765432 -1.5 42
"""
# With word2vec's header line, and a word that is no UTF-8.
HEADED = b"4 3\nalpha 1 2 3\n\xff\xfe 7 7 7\nbeta -0.5 0.25 1e-3\ngamma 4 5 6\n"
TOKENS = [
    *("the", "The", "THE", "Obama", "obama", "OBAMA", "nyc", "NYC", "Nyc", "café", "CAFÉ", "."),
    *("<user>", "<USER>", "ünï", "Ünï", "us", "US", "Us", "last", "Last", "absent", "Absent"),
]


def main() -> None:
    """Write all golden files."""
    texts = TEXTS.removeprefix("\n").removesuffix("\n").split("\n") + ESCAPED
    tokenize = get_tokenizer("basic_english")
    with open(GOLDEN / "basic_english.jsonl", "w", encoding="ascii", newline="\n") as file:
        for text in texts:
            file.write(json.dumps({"text": text, "tokens": tokenize(text)}) + "\n")

    cache = GOLDEN / "torchtext"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    # Under the name of published vectors, so that torchtext's GloVe and our cache find them without a network.
    (cache / "glove.6B.50d.txt").write_text(VECTORS, encoding="utf-8", newline="\n")
    (cache / "headed.vec").write_bytes(HEADED)
    glove = GloVe(name="6B", dim=50, cache=str(cache))
    first = GloVe(name="6B", dim=50, cache=str(cache), max_vectors=3)
    headed = Vectors(str(cache / "headed.vec"), cache=str(cache))
    content = {
        "made with": f"torchtext {torchtext.__version__}",
        "glove": {"words": glove.itos, "vectors": glove.vectors.tolist()},
        "first": {"words": first.itos, "vectors": first.vectors.tolist()},
        "headed": {"words": headed.itos, "vectors": headed.vectors.tolist()},
        "tokens": TOKENS,
        "get_vecs_by_tokens": glove.get_vecs_by_tokens(TOKENS).tolist(),
        "lower_case_backup": glove.get_vecs_by_tokens(TOKENS, lower_case_backup=True).tolist(),
    }
    with open(GOLDEN / "torchtext" / "expected.json", "w", encoding="utf-8", newline="\n") as file:
        json.dump(content, file, ensure_ascii=False)
        file.write("\n")
    for path in cache.glob("*.pt"):
        path.unlink()
    print(f"{len(texts)} texts; {', '.join(sorted(path.name for path in cache.iterdir()))}", file=sys.stderr)


if __name__ == "__main__":
    main()
