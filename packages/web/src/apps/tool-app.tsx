import type { Tool } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import type { ToolItem } from '../state/turn.ts'
import { AppCard } from './app-card.tsx'
import { pageOf } from './app-tool.ts'
import { findTool } from './server-tools.ts'

export interface ToolAppProps {
  readonly item: ToolItem
  readonly session: ChatSession
  /** Called with 1 when the app begins, and with -1 when it ends. */
  readonly onApps: (change: number) => void
}

/** The app of a tool call, if its tool has one and the call was not refused. */
export function ToolApp({ item, session, onApps }: ToolAppProps): ReactNode {
  const tool = useTool(item)
  const uri = tool === undefined ? undefined : pageOf(tool)
  const { server, result } = item
  if (tool === undefined || uri === undefined || server === undefined) return null
  if (result?.outcome === 'refused') return null
  return (
    <ErrorBoundary what="This app">
      <AppCard
        item={item}
        server={server}
        tool={tool}
        uri={uri}
        session={session}
        onApps={onApps}
      />
    </ErrorBoundary>
  )
}

/** The tool of a call, once it is known. Without it the call is shown without an app. */
function useTool({ server, tool: name }: ToolItem): Tool | undefined {
  const [tool, setTool] = useState<Tool>()
  useEffect(() => {
    if (server === undefined) return undefined
    let isCurrent = true
    findTool(server, name).then(
      (found) => isCurrent && setTool(found),
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [server, name])
  return tool
}
