import type { Message } from '@mcp-host/client'
import { host } from './host.ts'

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

/** The conversation as a document. */
export function toMarkdown(title: string, messages: readonly Message[]): string {
  const parts = messages.map(({ role, content = '', toolName = '', data }) => {
    if (role === 'user') return `## You\n\n${content}`
    if (role === 'tool') {
      const call = { arguments: data?.arguments, outcome: data?.outcome, result: data?.content }
      return `### Tool ${toolName}\n\n${fenced(JSON.stringify(call, undefined, 2))}`
    }
    return `## Answer\n\n${content}`
  })
  return `# ${title}\n\n${parts.join('\n\n')}\n`
}

/** The fence is longer than any in the text, which therefore cannot end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}json\n${text}\n${fence}`
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
