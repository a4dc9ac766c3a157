import type { OfferedTool, ServerView } from '@mcp-host/contracts'
import { ToolIndex } from '@mcp-host/tool-search'
import { offeredTools } from './tool-names.ts'

export type OfferedToolIndex = ToolIndex<OfferedTool & { readonly name: string }>

/** Caches the tools of all ready servers with their search index until one of their lists changes. */
export class OfferedTools {
  /** Each ready server and its list. */
  #lists: readonly unknown[] = []
  #tools: readonly OfferedTool[] = []
  #index = indexTools([])

  get tools(): readonly OfferedTool[] {
    return this.#tools
  }

  get index(): OfferedToolIndex {
    return this.#index
  }

  /** Updates the tools when a list has changed. Heartbeats change the catalog but keep the objects of the lists. */
  update(views: readonly ServerView[]): this {
    const lists = views.flatMap(({ server, state, tools }) =>
      state === 'ready' ? [server, tools] : [],
    )
    const isSame =
      lists.length === this.#lists.length && lists.every((each, at) => each === this.#lists[at])
    if (isSame) return this
    this.#lists = lists
    this.#tools = offeredTools(views)
    this.#index = indexTools(this.#tools)
    return this
  }
}

export function indexTools(tools: readonly OfferedTool[]): OfferedToolIndex {
  return new ToolIndex(tools.map((tool) => ({ ...tool, name: tool.safeName })))
}
