import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'

/** Id of the sidebar, which a phone shows on demand. */
export const SIDEBAR = 'side'

export interface PageBarProps {
  readonly title: string
  /** Beside the title. */
  readonly state?: ReactNode
  /** Buttons at the end. */
  readonly children?: ReactNode
}

/** The head of a page. */
export function PageBar({ title, state, children }: PageBarProps): ReactNode {
  return (
    <header className="bar">
      <button
        type="button"
        className="icon-button only-phone"
        popoverTarget={SIDEBAR}
        aria-label="Chats"
      >
        <Icon name="menu" />
      </button>
      <h1 className="cut">{title}</h1>
      {state}
      {children !== undefined && <div className="bar-actions">{children}</div>}
    </header>
  )
}
