import type { ReactNode } from 'react'
import { useEffect } from 'react'
import { Icon } from '../../parts/icon.tsx'
import { useStore } from '../../state/store.ts'
import { followWaitingCalls, waitingCalls } from '../../state/waiting-calls.ts'
import { waitingText } from '../../state/waiting-text.ts'
import { SIDEBAR } from './sidebar.tsx'
import { WaitingBadge } from './waiting-badge.tsx'

/** Opens the sidebar on a phone. Screen readers are told of calls that wait, wherever the user is. */
export function SidebarButton(): ReactNode {
  const count = useStore(waitingCalls)
  useEffect(followWaitingCalls, [])
  return (
    <>
      <button
        type="button"
        className="icon-button only-phone sidebar-button"
        popoverTarget={SIDEBAR}
        aria-label={['Pages and lists', waitingText(count)].filter(Boolean).join(', ')}
      >
        <Icon name="menu" />
        <WaitingBadge />
      </button>
      <p role="status" className="hidden">
        {waitingText(count)}
      </p>
    </>
  )
}
