"""What every answer says to the browser."""

from __future__ import annotations

# The one script that Streamlit writes into its page: window.prerenderReady = false.
_INLINE = "'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA='"
POLICY = "; ".join(
    (
        "default-src 'none'",
        # The code of the label screen reaches the browser as data and is loaded from a blob. Plotly draws
        # many points with WebGL programs that it makes as text, which needs unsafe-eval.
        f"script-src 'self' blob: 'unsafe-eval' {_INLINE}",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "media-src 'self'",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
HTTPS_ONLY = {"strict-transport-security": "max-age=31536000"}

RawHeaders = list[tuple[bytes, bytes]]


def with_headers(raw: RawHeaders, *, https: bool) -> RawHeaders:
    """Headers of an answer with those of every answer in place of their like."""
    added = HEADERS | (HTTPS_ONLY if https else {})
    kept = [(name, value) for name, value in raw if name.decode("latin-1").lower() not in added]
    return kept + [(name.encode(), value.encode()) for name, value in added.items()]
