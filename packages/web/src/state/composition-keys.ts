/** The `keyCode` of keys that an input method handles. */
const INPUT_METHOD = 229

/**
 * Whether a key belongs to an input method, as the Enter that confirms a conversion. Safari ends the composition before the
 * event of that Enter, whose `isComposing` is false: only the deprecated `keyCode` tells it.
 */
export function isCompositionKey(event: Event): boolean {
  const { isComposing, keyCode } = event as Partial<KeyboardEvent>
  return isComposing === true || keyCode === INPUT_METHOD
}

/** Hides the keys of input methods from every handler in the page, before the first of which it is called. */
export function hideCompositionKeys(page: EventTarget): void {
  const hide = (event: Event): void => {
    if (isCompositionKey(event)) event.stopImmediatePropagation()
  }
  for (const name of ['keydown', 'keypress', 'keyup'])
    page.addEventListener(name, hide, { capture: true })
}
