import type { Tool } from '@mcp-host/client'
import type { MouseEvent, ReactNode } from 'react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { focusAround } from '../parts/focus-around.ts'
import { focusIfLost } from '../parts/focus-if-lost.ts'
import type { ChatSession } from '../state/chat-session.ts'
import { draftOf } from '../state/draft.ts'
import { host } from '../state/host.ts'
import { toolHost } from '../state/tool-host.ts'
import type { ToolItem } from '../state/turn.ts'
import type { AppHost } from './app-actions.ts'
import { appActions } from './app-actions.ts'
import { domainNames, sandboxUrl } from './app-domains.ts'
import { AppFrame } from './app-frame.tsx'
import type { AppPage } from './app-page.ts'
import { findTool } from './server-tools.ts'
import { useWishes, WishList } from './wish-list.tsx'

const MAX_LOG_LINES = 20

/** Servers whose apps may reach these domains, as the user has allowed until the page is left. */
const allowed = new Set<string>()

const appHost: AppHost = {
  ...toolHost,
  readResource: (uri, server) => host.readResource(uri, server),
}

/** The call of an app's tool. */
export interface AppProps {
  readonly item: ToolItem
  readonly server: string
  readonly tool: Tool
  readonly session: ChatSession
}

export interface RunningAppProps extends AppProps {
  readonly page: AppPage
  /** Whether the app takes the focus when it begins, unless something else has it. */
  readonly takesFocus: boolean
  readonly onClose: () => void
  readonly onFail: (why: string) => void
  readonly onStop: (why: string) => void
}

/** An app with what it asks of its user. */
export function RunningApp(props: RunningAppProps): ReactNode {
  const { item, server, tool, session, page, takesFocus, onClose, onFail, onStop } = props
  const { wishes, ask, refuseAll } = useWishes()
  const [log, setLog] = useState<readonly string[]>([])
  const [height, setHeight] = useHeight(wishes.length > 0)
  const names = domainNames(page.domains)
  const reach = `${server} ${names.join()}`
  const [mayReach, setMayReach] = useState(allowed.has(reach))
  const close = useRef<() => Promise<void>>(undefined)
  const actions = useMemo(() => {
    const draft = (text: string): void => draftOf(session.id).suggest(text)
    return appActions({ server, host: appHost, findTool, ask, draft })
  }, [server, session, ask])
  const allow = ({ currentTarget }: MouseEvent): void => {
    focusAround(currentTarget, 'section')
    allowed.add(reach)
    // The frame is replaced, and so is what has asked.
    refuseAll()
    setMayReach(true)
  }
  return (
    <section className="card app" aria-label={`App of ${server}`} tabIndex={-1}>
      <header className="card-head">
        <span>
          App of <span className="id">{server}</span>
        </span>
        <span className="end" />
        <button
          type="button"
          className="bare"
          ref={takesFocus ? focusIfLost : undefined}
          onClick={() => void close.current?.().then(onClose)}
        >
          Close the app
        </button>
      </header>
      {names.length > 0 && !mayReach && (
        <p className="note">
          This app asks to reach {names.join(', ')}. It runs without them.{' '}
          <button type="button" className="text-button" onClick={allow}>
            Let it reach them
          </button>
        </p>
      )}
      <AppFrame
        key={String(mayReach)}
        src={sandboxUrl(mayReach ? page.domains : { connect: [], resource: [] })}
        html={page.html}
        item={item}
        server={server}
        tool={tool}
        sessionId={session.id}
        actions={actions}
        height={height}
        onHeight={setHeight}
        onLog={(line) => setLog((before) => [...before, line].slice(-MAX_LOG_LINES))}
        onFail={onFail}
        onStop={onStop}
        close={close}
      />
      <WishList wishes={wishes} server={server} />
      {log.length > 0 && (
        <details>
          <summary>Log of the app</summary>
          <pre tabIndex={0}>{log.join('\n')}</pre>
        </details>
      )}
    </section>
  )
}

/** The height that the app wants, but not while the user reads a question below it: the question must not move. */
function useHeight(isFixed: boolean): [number | undefined, (height: number) => void] {
  const [height, setHeight] = useState<number>()
  const wanted = useRef<number>(undefined)
  const fixed = useRef(isFixed)
  useEffect(() => {
    fixed.current = isFixed
    if (!isFixed) setHeight(wanted.current)
  }, [isFixed])
  const want = (next: number): void => {
    wanted.current = next
    if (!fixed.current) setHeight(next)
  }
  return [height, want]
}
