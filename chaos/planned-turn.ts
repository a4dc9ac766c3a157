import type { ScriptStep } from '@mcp-host/testkit'
import { script } from '@mcp-host/testkit'
import type { Random } from './random.ts'
import { between } from './random.ts'

/** The MCP servers of the host under test: one that one supervisor runs, one that every supervisor runs. */
export const SERVERS = ['one', 'every'] as const

/** `mark` must never run twice; `look` is declared read-only. */
export type ToolName = 'mark' | 'look'

export interface PlannedCall {
  /** Its argument, unique in the run: the servers' journals are matched by it. */
  readonly id: string
  readonly tool: ToolName
}

/** What one generation is told to write. */
export interface PlannedStep {
  readonly thinking: string
  readonly text: string
  readonly calls: readonly PlannedCall[]
}

/** A user message and the whole of the answer that it must get. */
export interface PlannedTurn {
  /** Of the message. All sessions use the same ones, which must not trouble any of them. */
  readonly id: string
  /** For the scripted demo model. */
  readonly message: string
  readonly steps: readonly PlannedStep[]
  /** Its user wants it to end: it may be cancelled, or have been done before. */
  isCancelled?: boolean
}

/** The tools that each generation calls. */
const SHAPES: readonly (readonly (readonly ToolName[])[])[] = [
  [[]],
  [['mark'], []],
  [['look'], []],
  [['mark', 'look', 'mark'], []],
  [['mark'], ['look', 'mark'], []],
]

export function planTurn(random: Random, session: string, number: number): PlannedTurn {
  let calls = 0
  const shape = SHAPES[between(random, 0, SHAPES.length - 1)] ?? []
  const parts = shape.map((tools) =>
    planStep(random, tools, () => `${session}-${number}-${calls++}`),
  )
  return {
    id: `m${number}`,
    message: script(...parts.map((part) => part.script)),
    steps: parts.map((part) => part.step),
  }
}

function planStep(
  random: Random,
  tools: readonly ToolName[],
  nextId: () => string,
): { step: PlannedStep; script: ScriptStep } {
  const tokens = between(random, 20, 60)
  const text = Array.from({ length: tokens }, (_, index) => `w${index} `).join('')
  const thinking = random() < 0.3 ? 'I think about it for a while and then I say' : ''
  const calls = tools.map((tool) => ({ id: nextId(), tool }))
  return {
    step: { thinking, text, calls },
    script: {
      ...(thinking === '' ? {} : { reasoning: thinking }),
      tokens,
      tokensPerSecond: between(random, 40, 80),
      calls: calls.map((call) => {
        const server = SERVERS[between(random, 0, SERVERS.length - 1)] ?? 'one'
        return { name: `${server}__${call.tool}`, arguments: { id: call.id } }
      }),
    },
  }
}
