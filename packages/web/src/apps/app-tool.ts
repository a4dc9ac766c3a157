import type { Tool } from '@mcp-host/client'
import { objectOf } from '../state/object-of.ts'

/** The form of an earlier draft of the extension. */
const EARLIER_PAGE = 'ui/resourceUri'

/** URI of the page of a tool's app; `undefined` for a tool without an app. */
export function pageOf(tool: Tool): string | undefined {
  const uri = uiOf(tool)['resourceUri'] ?? objectOf(tool._meta)[EARLIER_PAGE]
  return typeof uri === 'string' && uri.startsWith('ui://') ? uri : undefined
}

/** Whether apps of its server may call a tool. */
export function isForApps(tool: Tool): boolean {
  const { visibility } = uiOf(tool)
  return !Array.isArray(visibility) || visibility.length === 0 || visibility.includes('app')
}

function uiOf({ _meta: meta }: Tool): Readonly<Record<string, unknown>> {
  return objectOf(objectOf(meta)['ui'])
}
