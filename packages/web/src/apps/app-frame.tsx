import type { Tool } from '@mcp-host/client'
import type { ReactNode, RefObject } from 'react'
import { useEffect, useEffectEvent, useRef } from 'react'
import { host } from '../state/host.ts'
import type { ToolItem } from '../state/turn.ts'
import type { AppActions } from './app-connection.ts'
import { AppConnection } from './app-connection.ts'
import { hostContext, MAX_HEIGHT, watchContext } from './host-context.ts'
import { listen } from './listen.ts'
import { toolNotice } from './tool-notice.ts'

const START_MS = 15_000
const MIN_HEIGHT = 40
/** Until the app has told its height. */
const FIRST_HEIGHT = 160

export interface AppFrameProps {
  /** Address of the sandbox. */
  readonly src: string
  readonly html: string
  readonly item: ToolItem
  readonly server: string
  readonly tool: Tool
  readonly sessionId: string
  readonly actions: AppActions
  /** As the app has told; `undefined` until then. */
  readonly height: number | undefined
  readonly onHeight: (height: number) => void
  readonly onLog: (line: string) => void
  readonly onFail: (why: string) => void
  /** Called when the page must stop the app. */
  readonly onStop: (why: string) => void
  /** Gets the function that announces the end to the app. */
  readonly close: RefObject<(() => Promise<void>) | undefined>
}

/** The frame of an app, as long as it is drawn. The frame has no origin: it reaches neither this page nor its host. */
export function AppFrame(props: AppFrameProps): ReactNode {
  const { src, item, server, height = FIRST_HEIGHT } = props
  const frame = useRef<HTMLIFrameElement>(null)
  const connection = useConnection(frame, props)
  useToolNotices(connection, item, props.sessionId)
  return (
    <iframe
      ref={frame}
      className="app-frame"
      title={`App of ${server}, ${item.tool}`}
      sandbox="allow-scripts allow-forms"
      referrerPolicy="no-referrer"
      src={src}
      height={Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, Math.ceil(height)))}
    />
  )
}

function useConnection(
  frame: RefObject<HTMLIFrameElement | null>,
  props: AppFrameProps,
): RefObject<AppConnection | undefined> {
  const connection = useRef<AppConnection>(undefined)
  const open = useEffectEvent((element: HTMLIFrameElement, late: number) => {
    const { html, tool, actions, onHeight, onLog, onStop, close } = props
    const send = (message: object): void => element.contentWindow?.postMessage(message, '*')
    const opened = new AppConnection({
      actions,
      send,
      onHeight,
      onLog,
      context: () => hostContext(tool, element.clientWidth),
      onSandboxReady: () => {
        const method = 'ui/notifications/sandbox-resource-ready'
        send({ jsonrpc: '2.0', method, params: { html } })
      },
      onReady: () => clearTimeout(late),
      onFlood: () => onStop('it sent too many messages'),
      now: () => performance.now(),
    })
    close.current = () => opened.teardown()
    return opened
  })
  const fail = useEffectEvent(() => props.onFail('it did not start in time'))
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const late = window.setTimeout(() => fail(), START_MS)
    const opened = open(element, late)
    connection.current = opened
    const unlisten = listen(element, opened)
    const unwatch = watchContext(element, (part) => opened.changeContext(part))
    return () => {
      clearTimeout(late)
      unlisten()
      unwatch()
    }
  }, [frame])
  return connection
}

/** Tells the app the arguments of its call, and how the call ends. */
function useToolNotices(
  connection: RefObject<AppConnection | undefined>,
  { arguments: given, result }: ToolItem,
  sessionId: string,
): void {
  const tellInput = useEffectEvent(() => {
    connection.current?.tell('ui/notifications/tool-input', { arguments: given })
  })
  useEffect(() => tellInput(), [])
  const told = useRef<AppConnection>(undefined)
  useEffect(() => {
    // The same result is read again with its branch or history.
    if (result === undefined || told.current === connection.current) return
    told.current = connection.current
    const read = async (key: string): Promise<Blob> => {
      const response = await fetch(host.fileUrl(sessionId, key))
      if (!response.ok) throw new Error(`the answer is ${response.status}`)
      return response.blob()
    }
    toolNotice(result, read).then(
      ({ method, params }) => connection.current?.tell(method, params),
      () =>
        connection.current?.tell('ui/notifications/tool-cancelled', {
          reason: 'the result cannot be read',
        }),
    )
  }, [connection, result, sessionId])
}
