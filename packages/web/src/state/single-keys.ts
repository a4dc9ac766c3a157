import { browserStorage } from './browser-storage.ts'

/** The key of the choice of the user in this browser; absent: on. */
const SINGLE_KEYS = 'single-keys'

/** Whether shortcuts of a single key act. */
export function hasSingleKeys(): boolean {
  return browserStorage.getItem(SINGLE_KEYS) !== 'off'
}

/** Switches shortcuts of a single key, and keeps it for later visits. */
export function setSingleKeys(isOn: boolean): void {
  if (isOn) browserStorage.removeItem(SINGLE_KEYS)
  else browserStorage.setItem(SINGLE_KEYS, 'off')
}
