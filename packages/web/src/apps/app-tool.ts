import type { Tool } from '@mcp-host/client'

/** The form of an earlier draft of the extension. */
const EARLIER_PAGE = 'ui/resourceUri'

type Fields = Readonly<Record<string, unknown>>

/** URI of the page of a tool's app; `undefined` for a tool without an app. */
export function pageOf(tool: Tool): string | undefined {
  const uri = uiOf(tool)['resourceUri'] ?? fieldsOf(tool._meta)[EARLIER_PAGE]
  return typeof uri === 'string' && uri.startsWith('ui://') ? uri : undefined
}

/** Whether apps of its server may call a tool. */
export function isForApps(tool: Tool): boolean {
  const { visibility } = uiOf(tool)
  return !Array.isArray(visibility) || visibility.length === 0 || visibility.includes('app')
}

function uiOf({ _meta: meta }: Tool): Fields {
  return fieldsOf(fieldsOf(meta)['ui'])
}

/** The fields of a value that somebody else wrote; none if it is no object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {}
}
