import type { ClientEvent } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useMemo, useState } from 'react'
import { PageBar } from '../../parts/page-bar.tsx'
import { EventLog } from '../../state/event-log.ts'
import { pretty } from '../../state/pretty.ts'
import { useStore } from '../../state/store.ts'
import { EventList } from './event-list.tsx'
import { ReplayControls } from './replay-controls.tsx'
import { ReplayedThread } from './replayed-thread.tsx'

/** The events of a session, and its conversation after any of them. */
export function DebugPage({ session }: { readonly session: string }): ReactNode {
  const [log, setLog] = useState<EventLog>()
  useEffect(() => {
    const opened = new EventLog(session)
    setLog(opened)
    return () => opened[Symbol.dispose]()
  }, [session])
  return log === undefined ? (
    <div className="empty" aria-busy="true" />
  ) : (
    <Events {...{ log, session }} />
  )
}

function Events(props: { readonly log: EventLog; readonly session: string }): ReactNode {
  const { log, session } = props
  const events = useStore(log.events)
  const connection = useStore(log.connection)
  /** Events that have happened at the shown step; `undefined`: all, also those that come. */
  const [chosen, setChosen] = useState<number>()
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const step = Math.min(chosen ?? events.length, events.length)
  const last = events[step - 1]
  return (
    <div className="debug">
      <PageBar title="Events">
        <a className="button" href={`#/chat/${session}`}>
          Back to the chat
        </a>
      </PageBar>
      {connection.state === 'ended' && (
        <p role="alert" className="banner bad">
          The events cannot be read: {connection.message}
        </p>
      )}
      <ReplayControls
        step={step}
        count={events.length}
        isLive={chosen === undefined}
        onStep={setChosen}
      />
      <TypeFilter events={events} hidden={hidden} onChange={setHidden} />
      <div className="debug-columns">
        <EventList events={events} hidden={hidden} step={step} onStep={setChosen} />
        <section aria-label="Event" tabIndex={0}>
          <h2>{last === undefined ? 'Before the first event' : `Event ${step}`}</h2>
          {last === undefined ? (
            <p className="note">
              {events.length === 0
                ? 'Nothing has happened in this chat yet. Events appear here as they come.'
                : 'Choose an event, or go forward.'}
            </p>
          ) : (
            <pre>{pretty(last)}</pre>
          )}
        </section>
        <ReplayedThread events={events} step={step} session={session} />
      </div>
    </div>
  )
}

function TypeFilter(props: {
  readonly events: readonly ClientEvent[]
  readonly hidden: ReadonlySet<string>
  readonly onChange: (hidden: ReadonlySet<string>) => void
}): ReactNode {
  const { events, hidden, onChange } = props
  const counts = useMemo(
    () =>
      Array.from(
        Map.groupBy(events, ({ type }) => type),
        ([type, all]) => ({ type, count: all.length }),
      ),
    [events],
  )
  return (
    <fieldset className="actions debug-types">
      <legend className="hidden">Types of events</legend>
      {counts.map(({ type, count }) => (
        <label key={type}>
          <input
            type="checkbox"
            checked={!hidden.has(type)}
            onChange={({ target }) => {
              const others = Array.from(hidden).filter((each) => each !== type)
              onChange(new Set(target.checked ? others : [...others, type]))
            }}
          />{' '}
          {type} <small>{count}</small>
        </label>
      ))}
    </fieldset>
  )
}
