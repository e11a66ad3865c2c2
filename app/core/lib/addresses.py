"""Web addresses in names and titles that strangers chose: out of them before they leave in a message of ours."""

from __future__ import annotations

import re

#: Top-level domains that people use for links. Those that are also endings of degrees or words of an Indonesian
#: sentence without blanks (M.Si, S.Ag, A.Md, Sp.JP, rumah.ke) are left out: programs make links of them seldom.
TOP_LEVEL = frozenset(
    """
    com net org info biz xyz top site online shop store click link live app dev club vip pro fun icu buzz cloud
    space website tech page blog chat bio one win bet casino poker games game loan work world today news life
    digital wiki mobi name tel asia travel jobs edu gov mil int art agency zone run rest surf lol wtf sbs cfd bond
    cyou quest lat monster beauty hair skin makeup pics autos boats homes yachts motorcycles ac ad ae af ai al am ar
    at au ba be bg bi br bt by bz ca cc cd cf ch ci cl cm cn co cr cx cy cz de dk do ee es eu fi fm fo fr ga gd ge
    gg gl gp gq gr gs gy hk hm hn hr hu id ie il im in io ir is it je jo kr kz lc li lk lt lu lv ly me ml mn ms mv
    mx my mz nf ng nl no nu nz pe ph pl pm pn pr pt pw re ro ru rw sb sg sh sn so st su sx tc tf tg th tj tk tl tm
    tn to tr tv tw ua ug uk us uy uz vc vg vn vu wf ws za
    """.split()  # noqa: SIM905  # as a list it would fill pages
)

_DOT = "[.。．｡]"  # the dots of other scripts are dots of a domain too
_LABEL = r"[^\W_][\w-]{0,62}"

_ADDRESS = re.compile(
    rf"""
    \b[a-z][a-z0-9+]{{1,15}}://\S*                                     # with a scheme
    | \bwww{_DOT}\S+
    | \b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b(?:[:/]\S*)?                    # a number for a host
    | (?<![\w-])(?:[\w.+-]{{1,64}}@)?                                  # an e-mail address goes with its domain
      (?P<labels>{_LABEL}(?:{_DOT}{_LABEL})+)(?::\d+)?(?:[/?\#]\S*)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BLANKS = re.compile(r"\s+")


def without_addresses(text: str) -> str:
    """The text on one line without web addresses, bare domains and e-mail addresses; it may be empty then."""
    return _BLANKS.sub(" ", _ADDRESS.sub(_kept, text)).strip()


def _kept(match: re.Match[str]) -> str:
    """What stays of a match: all of it where no label but the first is a top-level domain, as in `Sp.PD`."""
    labels = match["labels"]
    if labels is None:
        return ""
    first, *others = re.split(_DOT, labels.lower())
    before = first
    for label in others:
        if (label in TOP_LEVEL or label.startswith("xn--")) and not before.isdigit():
            return ""
        before = label
    return match[0]
