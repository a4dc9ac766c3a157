/** The key of the choice of the user in this browser; absent: on. */
const SINGLE_KEYS = 'single-keys'

/** Whether shortcuts of a single key act. */
export function hasSingleKeys(): boolean {
  return localStorage.getItem(SINGLE_KEYS) !== 'off'
}
