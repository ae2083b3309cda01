// Browser storage that may be switched off: then nothing is remembered, and nothing fails.
export const remembered = {
  get(store, name, fallback = null) {
    try {
      const text = window[store].getItem(`ringfence:${name}`);
      return text === null ? fallback : JSON.parse(text);
    } catch {
      return fallback;
    }
  },
  set(store, name, value) {
    try {
      window[store].setItem(`ringfence:${name}`, JSON.stringify(value));
    } catch {
      /* private mode or full: the screen works without */
    }
  },
};
