import type { ReactNode } from 'react'
import type { MarkName } from './icon.tsx'
import { Mark } from './icon.tsx'

const MARKS = { failed: 'failed', unknown: 'unknown', waits: 'waits', plain: 'half' } as const

export interface BoxProps {
  /** `waits`: only the user can do what is needed. */
  readonly tone: keyof typeof MARKS
  readonly mark?: MarkName
  /** `alert`: screen readers say it at once. */
  readonly role?: 'alert' | 'status'
  readonly children: ReactNode
}

/** Says what is the case, what happens by itself and what only the user can do. */
export function Box({ tone, mark = MARKS[tone], role, children }: BoxProps): ReactNode {
  return (
    <div className={tone === 'plain' ? 'box' : `box ${tone}`} role={role}>
      <Mark name={mark} />
      <div>{children}</div>
    </div>
  )
}
