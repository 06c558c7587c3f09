"""Certificates of clusters that encrypt their messages, made on the spot."""

from __future__ import annotations

import datetime as dt
import functools

import distributed
import pytest

pytest.importorskip("cryptography")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def _signed(name, key, issuer, issuer_key):
    now = dt.datetime.now(dt.timezone.utc)
    is_authority = issuer is None
    own = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    may_sign = dict.fromkeys(["key_cert_sign", "crl_sign"], is_authority)
    must_not = ["content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only",
                "decipher_only"]  # fmt: skip
    usage = x509.KeyUsage(digital_signature=not is_authority, **may_sign, **dict.fromkeys(must_not, False))
    signer = key if is_authority else issuer_key
    return (
        x509.CertificateBuilder()
        .subject_name(own)
        .issuer_name(own if is_authority else issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .sign(signer, hashes.SHA256())
    )


def _pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


@functools.cache
def security_of(name):
    """Security of Dask, whose certificate is signed by the authority `name`, which no other cluster trusts."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = _signed(name, authority_key, None, None)
    certificate = _pem(_signed(f"{name}'s", key, authority, authority_key))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    own = {
        f"tls_{role}_{what}": value
        for role in ("client", "scheduler", "worker")
        for what, value in (("cert", certificate), ("key", private))
    }
    return distributed.Security(tls_ca_file=_pem(authority), require_encryption=True, **own)
