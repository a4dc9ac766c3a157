import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { Box } from '../parts/box.tsx'
import { focusIfLost } from '../parts/focus-if-lost.ts'
import { Mark } from '../parts/icon.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import { host } from '../state/host.ts'
import { messageOf } from '../state/message-of.ts'
import type { AppPage } from './app-page.ts'
import { readPage } from './app-page.ts'
import type { AppProps } from './running-app.tsx'
import { RunningApp } from './running-app.tsx'

/** Apps that begin by themselves while so many run; further ones wait for the user. */
const MAX_BY_ITSELF = 4

let running = 0

/** Calls whose app has ended: it begins again only when the user wants it. */
const ended = new Set<string>()

export interface AppCardProps extends AppProps {
  /** URI of the page of the app at its server. */
  readonly uri: string
  readonly onApps: (change: number) => void
}

type State =
  | { readonly at: 'closed' | 'loading' }
  | { readonly at: 'open'; readonly page: AppPage }
  | { readonly at: 'failed' | 'stopped'; readonly why: string }

/** Shows the app of a tool call: for the newest message by itself, else when the user wants to see it. */
export function AppCard(props: AppCardProps): ReactNode {
  const { item, server, uri, session, onApps } = props
  const [state, setState] = useState<State>(() => ({
    at: isNewest(session, item.id) && !ended.has(item.id) ? 'loading' : 'closed',
  }))
  /** Whether the user has pressed a button of the card, whose next button then takes the focus. */
  const [wasPressed, setWasPressed] = useState(false)
  const isShown = state.at === 'loading' || state.at === 'open'
  useEffect(() => {
    if (!isShown) return undefined
    if (running >= MAX_BY_ITSELF && !wasPressed) {
      setState({ at: 'closed' })
      return undefined
    }
    running += 1
    onApps(1)
    return () => {
      running -= 1
      onApps(-1)
    }
  }, [isShown, wasPressed, onApps])
  useEffect(() => {
    if (state.at !== 'loading') return undefined
    let isCurrent = true
    void loadPage(uri, server).then((next) => isCurrent && setState(next))
    return () => {
      isCurrent = false
    }
  }, [state, uri, server])
  const show = (): void => {
    setWasPressed(true)
    setState({ at: 'loading' })
  }
  const end = (next: State): void => {
    ended.add(item.id)
    setState(next)
  }
  const focusRef = wasPressed ? focusIfLost : undefined
  switch (state.at) {
    case 'closed':
      return (
        <p>
          <button type="button" ref={focusRef} onClick={show}>
            Show the app of {server}
          </button>
        </p>
      )
    case 'loading':
      return (
        <p className="note">
          <Mark name="runs" /> Loading the app of {server}
        </p>
      )
    case 'failed':
    case 'stopped':
      return (
        <Box tone="plain" role="alert">
          <strong>
            The app of {server} {state.at === 'failed' ? 'cannot be shown' : 'was stopped'}:
          </strong>{' '}
          {state.why}. The result is in the card of its call.{' '}
          <button type="button" className="text-button" ref={focusRef} onClick={show}>
            {state.at === 'failed' ? 'Try again' : 'Start the app again'}
          </button>
        </Box>
      )
    case 'open':
      return (
        <RunningApp
          {...props}
          page={state.page}
          takesFocus={wasPressed}
          onClose={() => {
            setWasPressed(true)
            end({ at: 'closed' })
          }}
          onFail={(why) => end({ at: 'failed', why })}
          onStop={(why) => end({ at: 'stopped', why })}
        />
      )
    default:
      return state satisfies never
  }
}

async function loadPage(uri: string, server: string): Promise<State> {
  try {
    const parts = await host.readResource(uri, server)
    return { at: 'open', page: readPage(parts, location.hostname) }
  } catch (error) {
    return { at: 'failed', why: messageOf(error) }
  }
}

function isNewest({ thread }: ChatSession, callId: string): boolean {
  const { items = [] } = thread.turns.get().at(-1)?.get() ?? {}
  return items.some(({ id }) => id === callId)
}
