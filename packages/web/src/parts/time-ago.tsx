import type { ReactNode } from 'react'
import { now } from '../state/now.ts'
import { useStore } from '../state/store.ts'
import { agoOf, timeOf } from '../state/time-text.ts'

export interface TimeAgoProps {
  /** In epoch milliseconds. */
  readonly at: number
  /** Whether there is little room. */
  readonly isNarrow?: boolean
}

/** How long ago something was, with the exact time as its title. */
export function TimeAgo({ at, isNarrow = false }: TimeAgoProps): ReactNode {
  return (
    <time dateTime={new Date(at).toISOString()} title={timeOf(at)}>
      {agoOf(at, useStore(now), isNarrow ? 'narrow' : 'long')}
    </time>
  )
}
