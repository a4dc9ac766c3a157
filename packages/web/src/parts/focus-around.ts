/** Gives the focus to what a pressed button is in, since the button goes away. */
export function focusAround(button: Element, outer: 'article' | 'section' | 'nav'): void {
  button.closest<HTMLElement>(outer)?.focus({ preventScroll: true })
}
