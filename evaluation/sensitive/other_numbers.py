"""How people are numbered in the rest of the world."""

from __future__ import annotations

from typing import Final

from evaluation.sensitive.number_form import NumberForm

NUMBERS: Final = (
    NumberForm(
        "us_ssn",
        "us.ssn",
        form=r"[0-9]{3}-[0-9]{2}-[0-9]{4}",
        bare=r"[0-9]{3}[ \-]?[0-9]{2}[ \-]?[0-9]{4}",
        words=r"\bssn|_ssn|social[_ \-]?security",
    ),
    NumberForm(
        "us_itin",
        "us.itin",
        form=r"9[0-9]{2}-[0-9]{2}-[0-9]{4}",
        bare=r"9[0-9]{2}[ \-]?[0-9]{2}[ \-]?[0-9]{4}",
        words=r"\bitin|taxpayer",
    ),
    NumberForm(
        "ca_sin",
        "ca.sin",
        bare=r"[0-9]{3}[ \-]?[0-9]{3}[ \-]?[0-9]{3}",
        words=r"\bsin\b|_sin\b|social[_ \-]?insurance",
    ),
    NumberForm(
        "tr_tckn",
        "tr.tckimlik",
        bare=r"[1-9][0-9]{10}",
        words=r"kimlik|tckn|\btc\b",
    ),
    NumberForm(
        "br_cpf",
        "br.cpf",
        form=r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}",
        bare=r"[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}",
        words=r"\bcpf",
    ),
    NumberForm(
        "cl_rut",
        "cl.rut",
        form=r"[0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-[0-9Kk]",
        bare=r"[0-9]{1,2}\.?[0-9]{3}\.?[0-9]{3}-?[0-9Kk]",
        words=r"\brut\b|\brun\b",
    ),
    NumberForm(
        "ar_cuit",
        "ar.cuit",
        form=r"(?:20|23|24|27)-[0-9]{8}-[0-9]",
        bare=r"(?:20|23|24|27)-?[0-9]{8}-?[0-9]",
        words="cuit|cuil",
    ),
    NumberForm(
        "mx_curp",
        "mx.curp",
        form=r"[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[0-9A-Z][0-9]",
        bare=r"[A-Za-z]{4}[0-9]{6}[A-Za-z]{6}[0-9A-Za-z][0-9]",
        words="curp",
    ),
    NumberForm(
        "mx_rfc",
        "mx.rfc",
        bare=r"[A-Za-z]{4}[ \-]?[0-9]{6}[ \-]?[0-9A-Za-z]{3}",
        words=r"\brfc\b",
    ),
    NumberForm(
        "in_aadhaar",
        "in_.aadhaar",
        form=r"[2-9][0-9]{3} [0-9]{4} [0-9]{4}",
        bare=r"[2-9][0-9]{3}[ \-]?[0-9]{4}[ \-]?[0-9]{4}",
        words="aadhaar|aadhar|uidai",
    ),
    NumberForm(
        "in_pan",
        "in_.pan",
        form=r"[A-Z]{3}P[A-Z][0-9]{4}[A-Z]",
        bare=r"[A-Za-z]{5}[0-9]{4}[A-Za-z]",
        words=r"\bpan\b|permanent account",
    ),
    NumberForm(
        "cn_ric",
        "cn.ric",
        form=r"[1-8][0-9]{5}(?:19|20)[0-9]{2}[01][0-9][0-3][0-9]{4}[0-9Xx]",
        bare=r"[1-8][0-9]{16}[0-9Xx]",
        words=r"\x3f{2,}|resident|shenfen",
    ),
    NumberForm(
        "kr_rrn",
        "kr.rrn",
        form=r"[0-9]{6}-[0-9]{7}",
        bare=r"[0-9]{6}-?[0-9]{7}",
        words=r"resident|\brrn\b",
    ),
    NumberForm(
        "th_pin",
        "th.pin",
        form=r"[1-8]-[0-9]{4}-[0-9]{5}-[0-9]{2}-[0-9]",
        bare=r"[1-8]-?[0-9]{4}-?[0-9]{5}-?[0-9]{2}-?[0-9]",
        words="thai",
    ),
    NumberForm(
        "pk_cnic",
        "pk.cnic",
        form=r"[1-7][0-9]{4}-[0-9]{7}-[0-9]",
        bare=r"[1-7][0-9]{4}-?[0-9]{7}-?[0-9]",
        words="cnic",
    ),
    NumberForm(
        "za_id",
        "za.idnr",
        bare=r"[0-9]{6} ?[0-9]{4} ?[01][0-9]{2}",
        words=r"south african|\brsa id",
    ),
    NumberForm(
        "il_id",
        "il.idnr",
        bare=r"[0-9]{7,8}-?[0-9]",
        words="teudat(?: zehut)?|israeli",
    ),
    NumberForm(
        "au_tfn",
        "au.tfn",
        bare=r"[0-9]{3} ?[0-9]{3} ?[0-9]{2,3}",
        words=r"\btfn\b|tax file",
    ),
    NumberForm(
        "nz_ird",
        "nz.ird",
        bare=r"[0-9]{2,3}-?[0-9]{3}-?[0-9]{3}",
        words=r"\bird\b",
    ),
    NumberForm(
        "my_nric",
        "my.nric",
        form=r"[0-9]{6}-[0-9]{2}-[0-9]{4}",
        bare=r"[0-9]{6}-?[0-9]{2}-?[0-9]{4}",
        words="nric|mykad",
    ),
    NumberForm(
        "ec_ci",
        "ec.ci",
        bare=r"[0-9]{9}-?[0-9]",
        words="c.{1,2}dula",
    ),
)
