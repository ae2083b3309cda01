// Calls what load_screen.js published: this text goes with every exchange. The two may arrive in either order.
export default function (component) {
  const shared = (globalThis.ringfence ??= {});
  if (shared.showWorkbench) return shared.showWorkbench(component);
  shared.waiting = component;
  return () => shared.clearWorkbench?.(component.parentElement);
}
