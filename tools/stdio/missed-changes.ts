import { isObject } from './message.ts'

const LISTS = ['tools', 'prompts', 'resources']

/** The change notifications for a client that may have missed some while it was disconnected. */
export function missedChanges(lists: readonly string[], params?: object): string[] {
  return lists.map((list) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: `notifications/${list}/list_changed`,
      ...(params === undefined ? {} : { params }),
    }),
  )
}

/** The lists whose changes a server announces to a legacy client. */
export function toldLists(capabilities: unknown): string[] {
  if (!isObject(capabilities)) return []
  return LISTS.filter((list) => {
    const offered = capabilities[list]
    return isObject(offered) && offered['listChanged'] === true
  })
}

/** The lists whose changes a modern client subscribes to. */
export function wantedLists(notifications: unknown): string[] {
  if (!isObject(notifications)) return []
  return LISTS.filter((list) => notifications[`${list}ListChanged`] === true)
}
