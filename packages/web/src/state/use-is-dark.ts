import { useSyncExternalStore } from 'react'
import { useStore } from './store.ts'
import { theme } from './theme.ts'

const DARK = '(prefers-color-scheme: dark)'

function subscribe(listener: () => void): () => void {
  const scheme = matchMedia(DARK)
  scheme.addEventListener('change', listener)
  return () => scheme.removeEventListener('change', listener)
}

/** Whether the page is dark, by the choice of the user or that of the system. */
export function useIsDark(): boolean {
  const chosen = useStore(theme)
  const isSystemDark = useSyncExternalStore(subscribe, () => matchMedia(DARK).matches)
  return chosen === 'system' ? isSystemDark : chosen === 'dark'
}
