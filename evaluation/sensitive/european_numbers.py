"""How people are numbered in Europe."""

from __future__ import annotations

from typing import Final

from evaluation.sensitive.number_form import NumberForm

NUMBERS: Final = (
    NumberForm(
        "gb_nino",
        "",
        form=r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]",
        bare=r"[A-Za-z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d]",
        words=r"national[_ \-]?insurance|\bnino\b|\bni[_ ]",
    ),
    NumberForm(
        "gb_nhs",
        "gb.nhs",
        bare=r"[0-9]{3}[ \-]?[0-9]{3}[ \-]?[0-9]{4}",
        words=r"\bnhs|_nhs|patient",
    ),
    NumberForm(
        "gb_utr",
        "gb.utr",
        bare=r"[0-9]{5} ?[0-9]{5}",
        words=r"\butr\b|taxpayer",
    ),
    NumberForm(
        "de_tax_id",
        "de.idnr",
        form=r"[0-9]{2} [0-9]{3} [0-9]{3} [0-9]{3}",
        bare=r"[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}",
        words=r"steuer|identifikationsnummer|\bidnr",
    ),
    NumberForm(
        "fr_nir",
        "fr.nir",
        form=r"[12] [0-9]{2} [01][0-9] [0-9][0-9AB] [0-9]{3} [0-9]{3} [0-9]{2}",
        bare=r"[12] ?[0-9]{2} ?[0-9]{2} ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}",
        words=r"\bnir\b|s.{1,2}curit.{1,2} sociale|\binsee|num.{1,2}ro de s",
    ),
    NumberForm(
        "fr_nif",
        "fr.nif",
        bare=r"[0-3][0-9] ?[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}",
        words=r"\bnif\b|num.{1,2}ro fiscal|spi",
    ),
    NumberForm(
        "es_dni",
        "es.dni",
        form=r"[0-9]{8}-?[A-Z]",
        bare=r"[0-9]{8}[ \-]?[A-Za-z]",
        words=r"\bdni\b|\bnif\b|documento",
    ),
    NumberForm(
        "es_nie",
        "es.nie",
        form=r"[XYZ]-?[0-9]{7}-?[A-Z]",
        bare=r"[XYZxyz][ \-]?[0-9]{7}[ \-]?[A-Za-z]",
        words=r"\bnie\b|\bnif\b",
    ),
    NumberForm(
        "it_fiscal_code",
        "it.codicefiscale",
        form=r"[A-Z]{6}[0-9LMNPQRSTUV]{2}[A-EHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]",
        bare=r"[A-Za-z]{6} ?[0-9]{2}[A-Za-z][0-9]{2} ?[A-Za-z][0-9]{3}[A-Za-z]",
        words="codice",
    ),
    NumberForm(
        "nl_bsn",
        "nl.bsn",
        bare=r"[0-9]{4}[. ]?[0-9]{2}[. ]?[0-9]{3}|[0-9]{9}",
        words=r"\bbsn|burgerservice|sofi",
    ),
    NumberForm(
        "be_nn",
        "be.nn",
        form=r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}",
        bare=r"[0-9]{2}[. ]?[0-9]{2}[. ]?[0-9]{2}[ \-]?[0-9]{3}[. ]?[0-9]{2}",
        words=r"rijksregister|registre national|num.{1,2}ro national|\bnn\b|\binsz|\bniss",
    ),
    NumberForm(
        "se_personnummer",
        "se.personnummer",
        form=r"(?:19|20)?[0-9]{6}[\-+][0-9]{4}",
        bare=r"(?:19|20)?[0-9]{6}[\-+]?[0-9]{4}",
        words=r"personnummer|\bpnr\b",
    ),
    NumberForm(
        "no_fodselsnummer",
        "no.fodselsnummer",
        form=r"[0-9]{6} [0-9]{5}",
        bare=r"[0-9]{6} ?[0-9]{5}",
        words="f.{1,2}dselsnummer|fodselsnr|personnummer",
    ),
    NumberForm(
        "dk_cpr",
        "dk.cpr",
        form=r"[0-3][0-9][01][0-9]{3}-[0-9]{4}",
        bare=r"[0-9]{6}-?[0-9]{4}",
        words=r"\bcpr",
    ),
    NumberForm(
        "fi_hetu",
        "fi.hetu",
        form=r"[0-9]{6}[\-+A-FU-Y][0-9]{3}[0-9A-FHJ-NPR-Y]",
        bare=r"[0-9]{6}[\-+A-FU-Y][0-9]{3}[0-9A-Z]",
        words="hetu|henkil",
    ),
    NumberForm(
        "is_kennitala",
        "is_.kennitala",
        bare=r"[0-9]{6}-?[0-9]{4}",
        words="kennitala",
    ),
    NumberForm(
        "pl_pesel",
        "pl.pesel",
        bare=r"[0-9]{11}",
        words="pesel",
    ),
    NumberForm(
        "pt_nif",
        "pt.nif",
        bare=r"[0-9]{3} ?[0-9]{3} ?[0-9]{3}",
        words=r"\bnif\b|contribuinte",
    ),
    NumberForm(
        "at_vnr",
        "at.vnr",
        bare=r"[0-9]{4} ?[0-9]{6}",
        words="svnr|sozialversicherung|versicherungsnummer|sv-nummer",
    ),
    NumberForm(
        "ch_ahv",
        "ch.ssn",
        form=r"756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}",
        bare=r"756[. ]?[0-9]{4}[. ]?[0-9]{4}[. ]?[0-9]{2}",
        words=r"\bahv|\bavs|sozialversicherung",
    ),
    NumberForm(
        "cz_rc",
        "cz.rc",
        form=r"[0-9]{6}/[0-9]{3,4}",
        bare=r"[0-9]{6}/?[0-9]{3,4}",
        words=r"rodn.{1,2} ..?slo|rodne|\brc\b",
    ),
    NumberForm(
        "ro_cnp",
        "ro.cnp",
        bare=r"[1-9][0-9]{12}",
        words=r"\bcnp\b|cod numeric",
    ),
    NumberForm(
        "bg_egn",
        "bg.egn",
        bare=r"[0-9]{10}",
        words=r"\begn\b",
    ),
    NumberForm(
        "hr_oib",
        "hr.oib",
        bare=r"[0-9]{11}",
        words=r"\boib\b",
    ),
    NumberForm(
        "si_emso",
        "si.emso",
        bare=r"[0-9]{13}",
        words="emso|jmbg",
    ),
    NumberForm(
        "gr_amka",
        "gr.amka",
        bare=r"[0-9]{11}",
        words="amka",
    ),
    NumberForm(
        "ie_pps",
        "ie.pps",
        bare=r"[0-9]{7}[A-Wa-w][A-IWa-iw]?",
        words=r"\bppsn?\b",
    ),
    NumberForm(
        "ee_ik",
        "ee.ik",
        bare=r"[1-6][0-9]{10}",
        words="isikukood",
    ),
    NumberForm(
        "lt_asmens",
        "lt.asmens",
        bare=r"[1-6][0-9]{10}",
        words="asmens(?: kodas)?",
    ),
    NumberForm(
        "lv_pk",
        "lv.pvn",
        bare=r"[0-9]{6}-?[0-9]{5}",
        words="personas(?: kods)?",
    ),
    NumberForm(
        "ua_rntrc",
        "ua.rntrc",
        bare=r"[0-9]{10}",
        words=r"rntrc|rnokpp|\bipn\b",
    ),
)
