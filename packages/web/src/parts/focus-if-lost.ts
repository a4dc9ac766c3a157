/** A `ref` that focuses an element when it appears, unless something else has the focus. */
export function focusIfLost(element: HTMLElement | null): void {
  if (document.activeElement === document.body) element?.focus()
}
