"""English function words, which say nothing of what a text is about.

Only pronouns, determiners, auxiliaries, prepositions, conjunctions and a few adverbs: longer lists in
use elsewhere also hold "fire", "bill" or "system", which news is made of.
"""

ENGLISH = frozenset(
    """
    a an the this that these those each every either neither some any no all both few more most much
    many other another such own same several enough i me my mine myself you your yours yourself
    yourselves he him his himself she her hers herself it its itself we us our ours ourselves they them
    their theirs themselves one ones someone something anyone anything everyone everything nobody
    nothing none who whom whose which what whoever whatever whichever am is are was were be been being
    have has had having do does did doing done can could may might must shall should will would ought
    isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't won't wouldn't
    shouldn't mustn't cannot i'm i've i'll i'd you're you've you'll you'd he'll he'd she'll she'd it'll
    it'd we're we've we'll we'd they're they've they'll they'd that'll that'd who'll who'd there'll and
    or but nor so yet if unless because although though while whereas whether than as since until of in
    on at by for with about against between among into onto through during before after above below over
    under to from up down out off across along around behind beside besides beyond within without toward
    towards upon via per despite except like near not only just also too very even still again ever
    never always often then there here now when whenever where wherever why how however therefore thus
    hence else rather quite almost already perhaps maybe well
    """.split()  # noqa: SIM905
)
