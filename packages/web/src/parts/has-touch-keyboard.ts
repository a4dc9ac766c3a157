/** Whether the keyboard of the device is shown when a field has the focus, and has no Shift with Enter. */
export function hasTouchKeyboard(): boolean {
  return matchMedia('(pointer: coarse)').matches
}
