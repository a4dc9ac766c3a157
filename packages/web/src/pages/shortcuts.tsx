import type { ReactNode } from 'react'
import { lazy, Suspense } from 'react'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import { SHORTCUTS } from '../state/shortcuts.ts'
import { Store, useStore } from '../state/store.ts'
import { useShortcut } from '../state/use-shortcut.ts'

const ShortcutsDialog = lazy(async () => ({
  default: (await import('./shortcuts-dialog.tsx')).ShortcutsDialog,
}))

const isShown = new Store(false)

export function showShortcuts(): void {
  isShown.set(true)
}

/** The table of all shortcuts, on demand. */
export function Shortcuts(): ReactNode {
  useShortcut(SHORTCUTS.shortcuts, showShortcuts)
  if (!useStore(isShown)) return null
  return (
    <ErrorBoundary what="This panel">
      <Suspense>
        <ShortcutsDialog onClose={() => isShown.set(false)} />
      </Suspense>
    </ErrorBoundary>
  )
}
