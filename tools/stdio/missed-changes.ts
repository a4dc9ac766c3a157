import { isObject } from './message.ts'

const LISTS = ['tools', 'prompts', 'resources']

/** What to tell a client that has not heard of changes for a while: that there may have been some. */
export function missedChanges(lists: readonly string[], params?: object): string[] {
  return lists.map((list) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: `notifications/${list}/list_changed`,
      ...(params === undefined ? {} : { params }),
    }),
  )
}

/** The lists whose changes a server tells an older client. */
export function toldLists(capabilities: unknown): string[] {
  if (!isObject(capabilities)) return []
  return LISTS.filter((list) => {
    const offered = capabilities[list]
    return isObject(offered) && offered['listChanged'] === true
  })
}

/** The lists whose changes a newer client wants to hear of. */
export function wantedLists(notifications: unknown): string[] {
  if (!isObject(notifications)) return []
  return LISTS.filter((list) => notifications[`${list}ListChanged`] === true)
}
