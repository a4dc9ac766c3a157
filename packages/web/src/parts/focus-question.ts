/** Gives the focus to the first button of a question. Returns whether there is one. */
export function focusQuestion(): boolean {
  const button = document.querySelector<HTMLElement>('.asks button')
  button?.focus()
  return button !== null
}
