// How Streamlit reaches the screen: one call per payload, one when the element goes.

import { Workbench } from "./workbench.js";

/** What the mounted component calls at every payload; gives the clean-up that Streamlit asks for. */
function showWorkbench({ data, parentElement, setStateValue }) {
  let bench = parentElement.ringfence;
  if (bench && bench.project.id !== data.project.id) {
    bench.destroy();
    bench = null;
  }
  if (!bench) bench = parentElement.ringfence = new Workbench(parentElement, data);
  bench.receive(data, (message) => setStateValue("out", message));
  return () => clearWorkbench(parentElement);
}

/** Streamlit also asks this for a payload that a newer one overtook: then the screen is still there, and stays. */
function clearWorkbench(parentElement) {
  if (parentElement.isConnected) return;
  parentElement.ringfence?.destroy();
  parentElement.ringfence = null;
}

const shared = (globalThis.ringfence ??= {});
Object.assign(shared, { showWorkbench, clearWorkbench });
if (shared.waiting) showWorkbench(shared.waiting);
shared.waiting = null;

export default function () {}
