// The component in the fragment: its code goes with every exchange, so it only calls what load_screen.js published.
// The two may arrive in either order.
export default function (component) {
  const shared = (globalThis.ringfence ??= {});
  if (shared.showWorkbench) return shared.showWorkbench(component);
  shared.waiting = component;
  return () => shared.clearWorkbench?.(component.parentElement);
}
