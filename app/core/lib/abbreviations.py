"""Academic degrees and abbreviations that contain a full stop, as written in Indonesia. Case does not matter."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Degrees. A degree or a chain of degrees stays unchanged: `S.Pd`, `S.Kep.Ns`.
DEGREES = _words(
    # Bachelors and applied bachelors
    "s.ag s.ak s.ap s.ars s.ds s.e s.e.i s.e.sy s.far s.farm s.fil s.ftr s.gz s.h s.h.i s.hi s.hum s.hut s.ik s.ikom "
    "s.i.k s.i.kom s.i.p s.ip s.kep s.ked s.kes s.kg s.kh s.km s.k.m s.kom s.kpm s.m s.mat s.mb s.or s.p s.pd s.pd.h "
    "s.pd.i s.pd.k s.pd.sd s.pdi s.pi s.psi s.pt s.s s.si s.sn s.sos s.sos.i s.st s.s.t s.stat s.sy s.t s.t.p s.th "
    "s.th.i s.ti s.tp s.tr s.tr.farm s.ud "
    # Diploma degrees
    "a.ma a.ma.pd a.md a.md.farm a.md.pk a.md.ro a.md.tw amd a.p "
    # Master's degrees
    "m.a m.ag m.ak m.ap m.ars m.biomed m.bmd m.div m.ds m.e m.e.i m.e.sy m.eng m.epid m.far m.farm m.fil m.fis m.gizi "
    "m.gz m.h m.h.i m.hi m.hum m.i.kom m.ikom m.ip m.k.k.k m.k.m m.keb m.ked m.kep m.kes m.kkk m.km m.kn m.kom m.m "
    "m.mat m.med m.mr m.or m.p m.pd m.pd.i m.pdi m.phil m.psi m.psi.t m.s m.sc m.sc.ph m.si m.sn m.sos m.st m.stat m.t "
    "m.t.i m.th m.ti m.tr m.ud "
    # Degrees of other countries, and doctorates
    "b.a b.ed b.eng b.med b.n b.pharm b.sc d.min d.phil d.sc dr.h.c dr.ing dr.med dr.ph dr.rer.nat ed.d ll.b ll.m "
    "pharm.d ph.d psy.d "
    # Specialists: doctors, dentists, nurses
    "sp.a sp.ak sp.an sp.and sp.an-ti sp.b sp.ba sp.bm sp.bmm sp.bp sp.bp-re sp.bs sp.btkv sp.d sp.dlp sp.dv sp.dve "
    "sp.ek sp.em sp.f sp.fk sp.fm sp.gk sp.ja sp.jp sp.kfr sp.kg sp.kga sp.kj sp.kk sp.kkk sp.kkl sp.kklp sp.kl sp.kn "
    "sp.ko sp.kom sp.kp sp.kv sp.m sp.mk sp.n sp.of sp.og sp.ok sp.onk sp.onk.rad sp.ort sp.ot sp.p sp.pa sp.park "
    "sp.par.k sp.pd sp.perio sp.pk sp.pm sp.pros sp.r sp.rad sp.rm sp.rkg sp.s sp.t sp.tht sp.tht-kl sp.tht-bkl "
    "sp.thtkl sp.thtbkl sp.t.h.t sp.u sp.kep sp.kep.an sp.kep.j sp.kep.kom sp.kep.m sp.kep.mat sp.kep.mb"
)

#: Words that follow a degree after a full stop or a hyphen: fields of study, professions, consultants. None of these
#: words is a top-level domain.
FIELDS = _words(
    "ak apt far ft ftr gz k keb kep kes kl kom mik ners ns ot pd psi rad rmik t "
    "fiha finasim kemd kfer kgeh kger kgh khom konk onk"
)

#: Words for consultants. They follow a degree only after a hyphen, as in `Sp.PD-KR`.
CONSULTANTS = _words(
    "kai kaic kakv kao kap kar kbd kbl kbtkv kdm kfm kic kim kkv kneu ko kobgin kp kpti kr kra kt ktl kv ped"
)

#: Abbreviations before a word. A missing space is added after them: `dr.Ani` becomes `dr. Ani`.
PREFIXES = _words(
    # Abbreviations of titles and professions
    "apt bd dr dra drg drh drs ir ners ns prof subsp "
    # Abbreviations of forms of address and religious titles
    "an bp bpk by fr ibu k.h kh nn ny pdt rm sdr sdri sr tgk tn ust yth "
    # Abbreviations in personal names
    "abd h hj md mhd moch moh mohd muh ra rr st "
    # Abbreviations in place names
    "blok desa ds dsn gg jend jl jln kab kec kel komp kp lt perum prov rt rw "
    # Abbreviations in names of health facilities and companies
    "cv pkm pt pusk rs rsia rsj rsu rsud rsup tk ud "
    # Abbreviations of forms of medicines
    "amp cap caps co fl fls gtt inj kap kaps oint sal sir supp susp syr tab tabl ung vit "
    # Other abbreviations
    "a.n bag bid bln c.q cat cq d.a d.h dgn dkk dll dsb dst ext fax hal hp hr ket lamp lih maks max mgg min n.b nb no "
    "pk pkl rek s.d spt telp tgl th thn tlp tsb ttg u.p utk yg"
)

#: Words after a number. A missing space is added before them: `500.mg` becomes `500. mg`.
UNITS = _words(
    # Units of amounts
    "cc cm dd gr iu juta kali kalori kaps kapsul kg kkal mcg mg ml mm mmhg persen ribu rupiah sdm sdt sendok tab "
    "tablet tetes ui unit "
    # Units of time, and time zones
    "detik hari jam malam menit minggu pagi siang sore bulan tahun wib wit wita "
    # Names of months
    "jan feb mar apr mei jun jul agu ags agt sep okt nov des januari februari maret april juni juli agustus september "
    "oktober november desember"
)

_degree, _field, _consultant = ("|".join(map(re.escape, sorted(words))) for words in (DEGREES, FIELDS, CONSULTANTS))
_CHAIN = re.compile(rf"(?:{_degree})(?:[.-](?:{_degree}|{_field})|-(?:{_consultant}))*")


def is_degree(text: str) -> bool:
    """Return whether a lower-case text is a degree or a chain of degrees."""
    return _CHAIN.fullmatch(text) is not None
