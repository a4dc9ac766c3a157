/** Gives the focus to an element around a control that goes away. */
export function focusAround(control: Element, outer: 'article' | 'section' | 'nav'): void {
  control.closest<HTMLElement>(outer)?.focus({ preventScroll: true })
}
