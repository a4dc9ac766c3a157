import type { ClientEvent } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useMemo, useRef } from 'react'
import type { VListHandle } from 'virtua'
import { VList } from 'virtua'

const MAX_SUMMARY = 120

export interface EventListProps {
  readonly events: readonly ClientEvent[]
  /** Types that are not listed. */
  readonly hidden: ReadonlySet<string>
  readonly step: number
  readonly onStep: (step: number) => void
}

/** The events by their numbers, of which only the visible ones are in the page. */
export function EventList({ events, hidden, step, onStep }: EventListProps): ReactNode {
  const list = useRef<VListHandle>(null)
  const shown = useMemo(
    () =>
      events.flatMap((event, index) =>
        hidden.has(event.type) ? [] : [{ event, number: index + 1 }],
      ),
    [events, hidden],
  )
  const current = shown.findLastIndex(({ number }) => number <= step)
  useEffect(() => {
    if (current !== -1) list.current?.scrollToIndex(current, { align: 'nearest' })
  }, [current])
  return (
    <section className="event-list" aria-label="All events">
      <VList ref={list} tabIndex={0} className="events">
        {shown.map(({ event, number }) => (
          <button
            key={number}
            type="button"
            className="entry"
            aria-current={number === step ? 'step' : undefined}
            data-event={number}
            onClick={() => onStep(number)}
          >
            <small>{number}</small> <strong>{event.type}</strong> <small>{summaryOf(event)}</small>
          </button>
        ))}
      </VList>
    </section>
  )
}

/** The beginning of what an event says. */
function summaryOf({ payload }: ClientEvent): string {
  return JSON.stringify(payload).slice(0, MAX_SUMMARY)
}
