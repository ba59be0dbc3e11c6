"""Hosts that hold no articles: link shorteners, social platforms, videos, shops, petitions.

A host includes its subdomains. Sources: the domains of these services, and the shorteners met in
real tweets of 2014 to 2016; no list of others was copied.
"""

from __future__ import annotations


def _hosts(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Hosts whose links name a page only once they are fetched.
SHORTENERS = _hosts(
    """
    1drv.ms 53eig.ht a.co ab.co abcn.ws adf.ly aje.io alj.am amzn.to apne.ws apple.news arcg.is atfp.co bbc.in
    bit.do bit.ly bitly.com bloom.bg bos.gl buff.ly bzfd.it cbsn.ws cnb.cx cnet.co cnn.it cnn.ph conta.cc
    cutt.ly db.tt dld.bz dlvr.it econ.st eepurl.com engt.co es.pn fal.cn fb.me feedly.com/k
    feedproxy.google.com flic.kr flip.it for.tn fxn.ws gizmo.do glo.bo gofund.me goo.gl gu.com hill.cm hubs.ly
    huff.to huffp.st ift.tt ind.pn instagr.am interc.pt is.gd itsh.bo j.mp joem.ag jrnl.ie kck.st l.bbc.in
    lat.ms lnk.to lnkd.in mol.im nbcnews.to news.google.com nyer.cm nym.ag nyp.st nyti.ms on.fb.me on.ft.com
    on.inc.com on.mktw.net on.msnbc.com on.rt.com on.wsj.com onforb.es ow.ly owl.li ox.ly paper.li po.st
    politi.co pos.li rb.gy read.bi rebrand.ly reut.rs s.hbr.org s.id scl.io seekingalpha.com/a shar.es
    shorturl.at slate.me smarturl.it snip.ly snpy.tv spoti.fi spr.ly stks.co strw.rs su.pr sumo.ly t.co t.ly
    tcrn.ch theatln.tc thebea.st ti.me tiny.cc tinyurl.com tmblr.co tnw.me tnw.to tr.im tradertw.it trib.al
    u.to urlz.fr usat.ly v.gd vntyfr.com wapo.st wef.ch wh.gov wny.cc wp.me wrld.bg x.co yhoo.it zd.net zpr.io
    """
)
#: Social platforms and messengers.
PLATFORMS = _hosts(
    """
    twitter.com x.com fxtwitter.com vxtwitter.com nitter.net twitpic.com twitlonger.com twimg.com vine.co periscope.tv
    facebook.com fb.com fb.watch fbcdn.net messenger.com instagram.com ig.me threads.net threads.com whatsapp.com wa.me
    reddit.com redd.it old.reddit.com tiktok.com douyin.com bsky.app bsky.social t.me telegram.me telegram.org
    linkedin.com pinterest.com pin.it snapchat.com tumblr.com discord.com discord.gg truthsocial.com gab.com gettr.com
    parler.com mastodon.social mastodon.online mstdn.social mas.to vk.com vk.ru ok.ru weibo.com weibo.cn quora.com
    clubhouse.com stocktwits.com disqus.com slack.com line.me kakao.com bitchute.com rumble.com odysee.com
    """
)
#: Videos, pictures, music, shops, petitions, donations, forms, collections of links.
OTHER_SITES = _hosts(
    """
    youtube.com youtu.be youtube-nocookie.com vimeo.com dailymotion.com twitch.tv tv.apple.com netflix.com
    soundcloud.com spotify.com music.apple.com podcasts.apple.com itunes.apple.com apps.apple.com deezer.com
    bandcamp.com mixcloud.com audioboom.com audible.com imgur.com giphy.com tenor.com gfycat.com flickr.com
    photobucket.com 500px.com unsplash.com deviantart.com artstation.com
    amazon.com amazon.co.uk amazon.de amazon.fr amazon.it amazon.es amazon.ca amazon.in amazon.co.jp amazon.com.br
    ebay.com ebay.co.uk ebay.de etsy.com aliexpress.com redbubble.com teespring.com zazzle.com shopify.com gumroad.com
    play.google.com docs.google.com drive.google.com forms.gle maps.google.com goo.gl/maps photos.google.com dropbox.com
    change.org avaaz.org petition.parliament.uk moveon.org openpetition.de causes.com actionnetwork.org
    gofundme.com kickstarter.com indiegogo.com patreon.com ko-fi.com buymeacoffee.com paypal.com paypal.me
    justgiving.com actblue.com winred.com venmo.com cash.app opensea.io
    eventbrite.com eventbrite.co.uk meetup.com zoom.us teams.microsoft.com ticketmaster.com surveymonkey.com
    typeform.com linktr.ee beacons.ai about.me carrd.co bio.site lnk.bio store.steampowered.com steamcommunity.com
    mailchi.mp us1.campaign-archive.com goodreads.com imdb.com strava.com
    """
)


def listed(key: str, hosts: frozenset[str]) -> bool:
    """Return whether the host of a key, a domain above it, or host and first folder are in a list."""
    host, _, path = key.partition("?")[0].partition("/")
    if f"{host}/{path.partition('/')[0]}" in hosts:
        return True
    while host:
        if host in hosts:
            return True
        host = host.partition(".")[2]
    return False
