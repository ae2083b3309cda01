// The one way to the server. An event is numbered, kept (also over a reload) until the server names its number
// in `ack`, and sent again if no answer comes. One message is under way at a time; what happens meanwhile goes
// with the next, so that quick keys travel together and none is lost.

import { remembered } from "./remembered.js";

const RESEND_MS = 2500;
const HOLD_MS = 3000; // longer than Streamlit takes to leave for another page

export class Outbox {
  /** Events wait under the name `place`. `compose()` gives the parts of a message that are not events; `onChange(n)` hears how many are unconfirmed. */
  constructor(place, compose, onChange) {
    this.place = place;
    this.compose = compose;
    this.onChange = onChange;
    this.client = Math.random().toString(36).slice(2, 10) + Date.now().toString(36);
    this.next = 1;
    this.message = 0; // number of the message under way or answered last
    this.waiting = false;
    this.dirty = false;
    this.send = null; // hands a message over to Streamlit
    this.pending = remembered.get("sessionStorage", `outbox:${place}`, []);
    this.timer = 0;
    this.held = false;
    this.release = 0;
    this.afterwards = null;
  }

  /** Nothing to confirm and nothing under way. */
  get quiet() {
    return this.held || (!this.pending.length && !this.waiting);
  }

  /** Add an event and send it as soon as the line is free; gives its number. */
  post(event) {
    const seq = this.next++;
    this.pending.push({ ...event, client: this.client, seq });
    this.save();
    this.flush();
    return seq;
  }

  /** Ask for an exchange even without an event (data wanted, or just news). */
  poke() {
    this.dirty = true;
    this.flush();
  }

  flush() {
    if (this.held || this.waiting || !this.send || (!this.pending.length && !this.dirty)) return;
    this.dirty = false;
    this.waiting = true;
    this.message += 1;
    this.timer = setTimeout(() => this.again(), RESEND_MS);
    this.send({ ...this.compose(), client: this.client, n: this.message, events: this.pending });
  }

  /** No answer came: send it once more. */
  again() {
    this.onSilence?.();
    this.waiting = false;
    this.dirty = true;
    this.flush();
  }

  /** Take the server's answer: forget what it has; `flush` then sends on. */
  receive(reply, ack) {
    const before = this.pending.length;
    this.pending = this.pending.filter((event) => !(event.seq <= (ack[event.client] || 0)));
    if (this.pending.length !== before) this.save();
    if (reply && reply.client === this.client && reply.n >= this.message) {
      clearTimeout(this.timer);
      this.waiting = false;
    }
    this.settle();
  }

  /** Send nothing for a while: a message that overtakes a change of page leaves that page blank. */
  hold() {
    this.held = true;
    clearTimeout(this.release);
    this.release = setTimeout(() => {
      this.held = false;
      this.flush();
    }, HOLD_MS);
  }

  /** Once all is quiet, hold the line and call back. */
  whenQuiet(action) {
    this.afterwards = action;
    this.settle();
  }

  settle() {
    if (!this.afterwards || !this.quiet) return;
    setTimeout(this.afterwards);
    this.afterwards = null;
    this.hold();
  }

  save() {
    this.onChange(this.pending.length);
    remembered.set("sessionStorage", `outbox:${this.place}`, this.pending);
  }

  stop() {
    clearTimeout(this.timer);
    clearTimeout(this.release);
    this.send = null;
  }
}
