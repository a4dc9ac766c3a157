import type { ReactNode } from 'react'
import { useEffect } from 'react'

export interface PageBarProps {
  readonly title: string
  /** Beside the title. */
  readonly state?: ReactNode
  /** Buttons at the end. */
  readonly children?: ReactNode
}

/** The head of a page. The browser shows its title, too. */
export function PageBar({ title, state, children }: PageBarProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · mcp-host`
  }, [title])
  return (
    <header className="bar">
      <h1 className="cut">{title}</h1>
      {state}
      {children !== undefined && <div className="bar-actions">{children}</div>}
    </header>
  )
}
