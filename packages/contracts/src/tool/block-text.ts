import type { ToolFinished } from '../session/tool-fact.ts'

type Block = ToolFinished['content'][number]

/** Blocks whose bytes models get in another way, or cannot read. */
const MEDIA: ReadonlySet<string> = new Set(['image', 'audio', 'resource'])
/** The limit for a text about a block that is no text. */
const MAX_LENGTH = 2_000
/** Longer strings of an unknown block are left out: they are no text. */
const MAX_STRING = 500

/** What a model is told of a block: its text, or what it is and where it can be had. */
export function blockText(block: Block): string {
  if (typeof block['text'] === 'string') return block['text']
  const { resource = {} } = block as { resource?: Readonly<Record<string, unknown>> }
  if (typeof resource['text'] === 'string') return resource['text']
  if (block.type === 'resource_link') {
    const fields = ['name', 'title', 'uri', 'mimeType', 'description', 'size']
    const about = fields.flatMap((field) => {
      const value = block[field]
      return typeof value === 'string' || typeof value === 'number' ? `${field}: ${value}` : []
    })
    return shortened(`[resource_link ${about.join(', ')}]`)
  }
  if (MEDIA.has(block.type)) {
    const about = [block['mimeType'] ?? resource['mimeType'], block['uri'] ?? resource['uri']]
    const known = about.filter((each) => typeof each === 'string')
    return shortened(`[${[block.type, ...known].join(' ')}]`)
  }
  const json = JSON.stringify(block, (_, value: unknown) =>
    typeof value === 'string' && value.length > MAX_STRING ? `… ${value.length} characters` : value,
  )
  return shortened(json)
}

function shortened(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH).toWellFormed()}…`
}
