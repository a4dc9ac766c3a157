import type { Client, RequestOptions } from '@modelcontextprotocol/client'
import * as z from 'zod'

import type { Logger } from '../logger.ts'
import { Tool } from './tool.ts'

/** A list that goes on longer than this does not end. */
const MAX_PAGES = 1000

const ToolPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() })

export interface DiscoverDeps {
  readonly client: Client
  readonly logger: Logger
}

/**
 * All tools of a server, by name, over all pages. A description that is not one, or has a name
 * already taken, is left out with a warning: it must not cost the server its other tools.
 */
export async function discoverTools(
  { client, logger }: DiscoverDeps,
  options: RequestOptions,
): Promise<ReadonlyMap<string, Tool>> {
  const tools = new Map<string, Tool>()
  if (client.getServerCapabilities()?.tools === undefined) return tools
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const answer = await client.request({ method: 'tools/list', params }, ToolPage, options)
    for (const item of answer.tools) {
      const tool = Tool.safeParse(item)
      if (!tool.success) {
        logger.warn({ issues: tool.error.issues }, 'a tool is left out: its description is faulty')
      } else if (tools.has(tool.data.name)) {
        logger.warn({ tool: tool.data.name }, 'a tool is left out: its name is taken')
      } else {
        tools.set(tool.data.name, tool.data)
      }
    }
    cursor = answer.nextCursor
    if (cursor === undefined) return tools
  }
  throw new Error(`the list of tools has more than ${MAX_PAGES} pages`)
}
