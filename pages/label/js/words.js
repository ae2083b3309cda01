// Numbers, times and names as they are written on the screen.

export const count = (n) => Number(n || 0).toLocaleString("en-US");
export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

/** An amount: thousands set apart, so many digits after the point, or up to two. */
export function figure(value, digits = null) {
  const places = digits === null ? { maximumFractionDigits: 2 } : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return Number(value).toLocaleString("en-US", places).replace("-", "−");
}

export function decimals(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 10000 || size < 0.001)) return value.toExponential(1);
  return value.toFixed(size >= 100 ? 1 : digits);
}

export function short(n) {
  if (n < 1000) return String(n);
  return n < 1e6 ? `${Math.round(n / 1000)}k` : `${Math.round(n / 1e6)}M`;
}

/** "top 3 %", or from the lower half "lowest 3 %". */
export function placeOf(percentile) {
  const share = Math.min(100 - percentile, percentile);
  const said = share < 0.1 ? "0.1" : share.toFixed(share < 10 ? 1 : 0);
  return `${percentile < 50 ? "lowest" : "top"} ${said} %`;
}

export function when(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso || "";
  const today = new Date().toDateString() === date.toDateString();
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return today ? time : `${date.toLocaleDateString([], { day: "numeric", month: "short" })} ${time}`;
}

/** A long id by both of its ends: those of a bank often begin alike. */
export const shortId = (id) => (id.length > 16 ? `${id.slice(0, 4)}…${id.slice(-6)}` : id);

/** The name of a node in a sentence, with its id where they differ. */
export const fullName = (name, id) => (name === id ? name : `${name} (${id})`);
