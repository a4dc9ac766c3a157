import type { Message } from '@mcp-host/client'
import { questionEnd } from './question-end.ts'
import { OUTCOME_WORDS } from './outcome-words.ts'
import { shownContent } from './shown-content.ts'

/** The conversation as a document. All texts of messages are quoted, so that only this function makes headings. */
export function toMarkdown(title: string, messages: readonly Message[]): string {
  const parts = messages.flatMap(({ role, content = '', toolName = '', data, metadata }) => {
    if (role === 'user') return `## You\n\n${quoted(content)}${fileList(metadata.attachments)}`
    if (role === 'tool') {
      const { arguments: given, approval, outcome, error, content: result } = data ?? {}
      const call = {
        arguments: given,
        approval: approval && questionEnd({ mode: 'approval' }, approval, undefined),
        outcome: outcome && OUTCOME_WORDS[outcome],
        error: error?.message,
        result: result && shownContent(outcome, result),
      }
      return `### Tool ${oneLine(toolName)}\n\n${fenced(JSON.stringify(call, undefined, 2))}`
    }
    // A step of an answer may have calls alone.
    if (content === '') return []
    const heading = role === 'system' ? 'Note of the host' : 'Answer'
    return `## ${heading}\n\n${quoted(content)}`
  })
  return `# ${oneLine(title)}\n\n${parts.join('\n\n')}\n`
}

function fileList(attachments: Message['metadata']['attachments'] = []): string {
  if (attachments.length === 0) return ''
  const lines = attachments.map(
    ({ name = 'file', mimeType, blob }) =>
      `- ${oneLine(name)} (${oneLine(mimeType)}, ${blob.bytes} bytes)`,
  )
  return `\n\nFiles:\n\n${lines.join('\n')}`
}

function quoted(text: string): string {
  return text === '' ? '' : text.replaceAll(/\r\n?/g, '\n').replaceAll(/^/gm, '> ')
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}

/** The fence is longer than any in the text, which therefore cannot end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}json\n${text}\n${fence}`
}
