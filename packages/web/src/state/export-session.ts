import type { Message } from '@mcp-host/client'
import { download } from './download.ts'
import { host } from './host.ts'
import { toMarkdown } from './to-markdown.ts'

/** The whole history of a session as a file for the user. */
export async function exportSession(id: string, title: string, as: 'md' | 'json'): Promise<void> {
  const pages: Message[][] = []
  let before: string | undefined
  do {
    const page = await host.messages(id, {
      limit: 100,
      ...(before === undefined ? {} : { before }),
    })
    pages.unshift(page.messages)
    before = page.next
  } while (before !== undefined)
  const messages = pages.flat()
  const text =
    as === 'json' ? JSON.stringify({ title, messages }, undefined, 2) : toMarkdown(title, messages)
  download(`${title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60) || 'chat'}.${as}`, text)
}
