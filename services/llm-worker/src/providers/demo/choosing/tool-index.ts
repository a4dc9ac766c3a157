import type { OfferedTool } from '@mcp-host/contracts'
import { readFields } from '../filling/field.ts'
import { isStopWord, nameWords, stem } from '../reading/words.ts'

/** A tool as the stems it can be found by. */
export interface IndexedTool {
  readonly offered: OfferedTool
  readonly name: ReadonlySet<string>
  readonly argumentNames: ReadonlySet<string>
  readonly description: ReadonlySet<string>
  readonly isDeprecated: boolean
}

export interface ToolIndex {
  readonly tools: readonly IndexedTool[]
  /** 1 for a word that only one tool has, less the more have it. */
  rarity(stem: string): number
}

/** Past this a description explains details and no longer says what the tool is for. */
const DESCRIPTION_LENGTH = 600

export function indexTools(offered: readonly OfferedTool[]): ToolIndex {
  const tools = offered.map(indexTool)
  const counts = new Map<string, number>()
  for (const { name, argumentNames, description } of tools) {
    for (const word of new Set([...name, ...argumentNames, ...description])) {
      counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  }
  const most = Math.log(1 + tools.length)
  return {
    tools,
    rarity: (word) => Math.log(1 + tools.length / Math.max(1, counts.get(word) ?? 1)) / most,
  }
}

function indexTool(offered: OfferedTool): IndexedTool {
  const description = offered.description ?? ''
  return {
    offered,
    name: stems(offered.tool),
    argumentNames: stems(
      readFields(offered.inputSchema)
        .map(({ name }) => name)
        .join(' '),
    ),
    description: stems(description.slice(0, DESCRIPTION_LENGTH)),
    isDeprecated: /\bdeprecated\b/i.test(description),
  }
}

function stems(text: string): ReadonlySet<string> {
  return new Set(
    nameWords(text)
      .filter((word) => !isStopWord(word))
      .map(stem),
  )
}
